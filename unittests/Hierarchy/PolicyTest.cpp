// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing policies and overrides, and what is rejected.

#include "HTP/Hierarchy/Policy.h"

#include "gtest/gtest.h"

using namespace htp;

/// Why a policy with these rules is rejected; "" if it is not.
static std::string policyError(const std::string &rules) {
  auto policy = Policy::parse(
      R"({"format": "htp-policy", "version": 1, "rules": [)" + rules + "]}");
  return policy ? "" : llvm::toString(policy.takeError());
}

static std::string overridesError(llvm::StringRef text) {
  auto overrides = Overrides::parse(text);
  return overrides ? "" : llvm::toString(overrides.takeError());
}

static bool contains(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

TEST(Policy, ReadsEveryField) {
  Policy policy = llvm::cantFail(Policy::parse(R"({
    "format": "htp-policy", "version": 1, "rules": [
      {"name": "casts", "match": {"op_type": ["Cast", "Identity"], "tag": "encoder.*",
       "evidence": "producer", "confidence_below": 0.5}, "assign": "consumer", "priority": 3},
      {"name": "head", "match": {}, "assign": {"module": "head"}}]})"));
  ASSERT_EQ(policy.rules.size(), 2u);
  const PolicyRule &casts = policy.rules[0];
  EXPECT_EQ(casts.opTypes, (std::vector<std::string>{"Cast", "Identity"}));
  EXPECT_EQ(casts.module, "encoder.*");
  EXPECT_EQ(casts.evidence, std::vector<std::string>{"producer"});
  EXPECT_EQ(casts.below, 0.5);
  EXPECT_EQ(casts.priority, 3);
  EXPECT_EQ(casts.assign, PolicyRule::Assign::Consumer);
  EXPECT_EQ(policy.rules[1].assign, PolicyRule::Assign::Module);
  EXPECT_EQ(policy.rules[1].target, "head");
  // A rule without a confidence also matches certain tags.
  EXPECT_GT(policy.rules[1].below, 1.0);
}

TEST(Policy, TurnsDownWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(policyError(R"({"name": "a", "match": {"optype": "Cast"},
                               "assign": "producer"})"),
                       "unknown key at policy.rules[0].match.optype"));
  EXPECT_TRUE(
      contains(policyError(R"({"name": "a", "match": {}, "assign": "mother"})"),
               "expected \"producer\", \"consumer\", \"ancestor\""));
  EXPECT_TRUE(
      contains(policyError(R"({"name": "a", "match": {"confidence_below": 2},
                               "assign": "producer"})"),
               "expected number between 0 and 1"));
  EXPECT_TRUE(contains(policyError(R"({"match": {}, "assign": "producer"})"),
                       "policy.rules[0].name"));
}

TEST(Policy, RulesThatContradictEachOther) {
  const std::string a =
      R"({"name": "a", "match": {"op_type": "Add"}, "assign": "producer"})";
  const std::string b =
      R"({"name": "b", "match": {"op_type": "Add"}, "assign": "consumer"})";
  const std::string later = R"({"name": "c", "match": {"op_type": "Add"},
      "assign": "consumer", "priority": 1})";
  EXPECT_EQ(policyError(a + "," + b), "rules 'a' and 'b' match the same nodes "
                                      "and assign them differently");
  EXPECT_EQ(policyError(a + "," + later), "");
  EXPECT_EQ(policyError(a + "," + a), "");
}

TEST(Policy, TheFileSaysWhatItIs) {
  auto none = Policy::parse(R"({"rules": []})");
  EXPECT_TRUE(contains(llvm::toString(none.takeError()),
                       "expected \"htp-policy\" at policy.format"));
  auto newer =
      Policy::parse(R"({"format": "htp-policy", "version": 2, "rules": []})");
  EXPECT_TRUE(contains(llvm::toString(newer.takeError()),
                       "expected 1 at policy.version"));
}

TEST(Overrides, WithAndWithoutAHeader) {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"/a/Add", "encoder"}, {"/b/Add", ""}};
  Overrides plain = llvm::cantFail(
      Overrides::parse(R"({"/b/Add": "", "/a/Add": "encoder"})"));
  EXPECT_EQ(plain.modules, expected);
  Overrides full = llvm::cantFail(
      Overrides::parse(R"({"format": "htp-overrides", "version": 1,
                           "nodes": {"/b/Add": "", "/a/Add": "encoder"}})"));
  EXPECT_EQ(full.modules, expected);
}

TEST(Overrides, TurnsDownWhatIsNotAName) {
  EXPECT_TRUE(contains(overridesError(R"({"/a/Add": 1})"),
                       "expected string at overrides"));
  EXPECT_TRUE(contains(overridesError("[]"), "expected object"));
  EXPECT_TRUE(
      contains(overridesError(R"({"format": "htp-overrides", "version": 1})"),
               "missing, expected object at overrides.nodes"));
}

TEST(Policy, EveryFieldHasItsType) {
  auto rule = [](std::string fields) {
    return policyError(R"({"name": "a", )" + fields + "}");
  };
  EXPECT_EQ(rule(R"("assign": "producer")"),
            "missing, expected object at policy.rules[0].match");
  EXPECT_EQ(rule(R"("match": [], "assign": "producer")"),
            "expected object at policy.rules[0].match");
  EXPECT_EQ(rule(R"("match": {})"),
            "missing, expected string or object at policy.rules[0].assign");
  EXPECT_EQ(rule(R"("match": {}, "assign": {"modul": "a"})"),
            "unknown key at policy.rules[0].assign.modul");
  EXPECT_EQ(rule(R"("match": {}, "assign": {})"),
            "missing, expected string at policy.rules[0].assign.module");
  EXPECT_TRUE(
      contains(rule(R"("match": {}, "assign": 1)"), "expected \"producer\""));
  EXPECT_EQ(rule(R"("match": {"op_type": ["Add", 1]}, "assign": "producer")"),
            "expected string at policy.rules[0].match.op_type[1]");
  EXPECT_EQ(rule(R"("match": {"op_type": 1}, "assign": "producer")"),
            "expected array at policy.rules[0].match.op_type");
  EXPECT_EQ(rule(R"("match": {"tag": 1}, "assign": "producer")"),
            "expected string at policy.rules[0].match.tag");
  EXPECT_EQ(rule(R"("match": {}, "assign": "producer", "priority": "high")"),
            "expected integer at policy.rules[0].priority");
  EXPECT_EQ(rule(R"("match": {}, "assign": "producer", "prio": 1)"),
            "unknown key at policy.rules[0].prio");
  EXPECT_TRUE(contains(policyError("["), "not JSON"));
}

/// Two rules with equal conditions agree if they name one target.
TEST(Policy, RulesThatAgree) {
  const std::string rule = R"({"name": "a", "match": {"tag": "x"},
      "assign": {"module": "m"}})";
  const std::string other = R"({"name": "b", "match": {"tag": "x"},
      "assign": {"module": "n"}})";
  EXPECT_EQ(policyError(rule + "," + rule), "");
  EXPECT_EQ(policyError(rule + "," + other),
            "rules 'a' and 'b' match the same nodes and assign them "
            "differently");
}

TEST(Overrides, TheFileSaysWhatItIs) {
  EXPECT_EQ(overridesError(R"({"format": "htp-policy", "nodes": {}})"),
            "expected \"htp-overrides\" at overrides.format");
  EXPECT_EQ(overridesError(R"({"format": "htp-overrides", "nodes": {}})"),
            "expected 1 at overrides.version");
  EXPECT_EQ(overridesError(R"({"format": "htp-overrides", "version": 1,
                               "nodes": [], "more": 1})"),
            "unknown key at overrides.more");
  EXPECT_EQ(overridesError(R"({"format": "htp-overrides", "version": 1,
                               "nodes": {"a": 1}})"),
            "expected string at overrides.nodes.a");
  EXPECT_TRUE(contains(overridesError("{"), "not JSON"));
}

/// A node that is listed twice goes where its last entry says.
TEST(Overrides, TheLastEntryOfANodeCounts) {
  Overrides overrides = llvm::cantFail(
      Overrides::parse(R"({"a": "first", "b": "m", "a": "second"})"));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"a", "second"}, {"b", "m"}};
  EXPECT_EQ(overrides.modules, expected);
}

TEST(Policy, FilesThatCannotBeRead) {
  EXPECT_EQ(llvm::toString(Policy::load("/nowhere/policy.json").takeError()),
            "'/nowhere/policy.json': No such file or directory");
  EXPECT_EQ(llvm::toString(Overrides::load("/").takeError()),
            "'/': is a directory, expected a file");
}
