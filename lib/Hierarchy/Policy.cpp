// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses policies and overrides, and rejects whatever would silently have no
// effect.

#include "HTP/Hierarchy/Policy.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "HTP/Hierarchy/JSONReading.h"
#include "HTP/Support/InputFile.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace htp;
using namespace htp::reading;
using llvm::Error;
using llvm::Expected;

bool PolicyRule::sameConditions(const PolicyRule &other) const {
  return opTypes == other.opTypes && module == other.module &&
         evidence == other.evidence && below == other.below &&
         priority == other.priority;
}

bool PolicyRule::sameAssignment(const PolicyRule &other) const {
  return assign == other.assign && target == other.target;
}

/// Rejects unknown keys: a misspelled condition would make a rule match too
/// much.
static bool onlyKeys(const JSONObject &object, llvm::ArrayRef<StringRef> known,
                     Path path) {
  for (const auto &[key, value] : object)
    if (!llvm::is_contained(known, key.str()))
      return reject(path.field(key), "unknown key");
  return true;
}

/// A string, or an array of strings.
static bool getStrings(const JSONObject &object, StringLiteral key,
                       std::vector<std::string> &strings, Path path) {
  const JSONValue *value = object.get(key);
  if (!value)
    return true;
  if (auto text = value->getAsString()) {
    strings.push_back(text->str());
    return true;
  }
  return readList(object, key, /*required=*/false, strings, path,
                  [](const JSONValue &item, std::string &text, Path place) {
                    auto found = item.getAsString();
                    if (!found)
                      return reject(place, "expected string");
                    text = found->str();
                    return true;
                  });
}

static bool readMatch(const JSONObject &rule, PolicyRule &result, Path parent) {
  const JSONValue *value = rule.get("match");
  Path path = parent.field("match"); // keeps a pointer to `parent`
  if (!value)
    return reject(path, "missing, expected object");
  const JSONObject *match = asObject(*value, path);
  if (!match ||
      !onlyKeys(*match, {"op_type", "tag", "evidence", "confidence_below"},
                path) ||
      !getStrings(*match, "op_type", result.opTypes, path) ||
      !getString(*match, "tag", /*required=*/false, result.module, path) ||
      !getStrings(*match, "evidence", result.evidence, path))
    return false;
  if (const JSONValue *below = match->get("confidence_below")) {
    auto number = below->getAsNumber();
    if (!number || *number < 0 || *number > 1)
      return reject(path.field("confidence_below"),
                    "expected number between 0 and 1");
    result.below = *number;
  }
  return true;
}

static bool readAssign(const JSONObject &rule, PolicyRule &result,
                       Path parent) {
  using Assign = PolicyRule::Assign;
  const JSONValue *value = rule.get("assign");
  Path path = parent.field("assign");
  if (!value)
    return reject(path, "missing, expected string or object");
  if (const JSONObject *object = value->getAsObject()) {
    result.assign = Assign::Module;
    return onlyKeys(*object, {"module"}, path) &&
           getString(*object, "module", /*required=*/true, result.target, path);
  }
  auto known = llvm::StringSwitch<std::optional<Assign>>(
                   value->getAsString().value_or(""))
                   .Case("producer", Assign::Producer)
                   .Case("consumer", Assign::Consumer)
                   .Case("ancestor", Assign::Ancestor)
                   .Default(std::nullopt);
  if (!known)
    return reject(path, "expected \"producer\", \"consumer\", \"ancestor\" or "
                        "an object with \"module\"");
  result.assign = *known;
  return true;
}

static bool readRule(const JSONValue &value, PolicyRule &rule, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object ||
      !onlyKeys(*object, {"name", "match", "assign", "priority"}, path) ||
      !getString(*object, "name", /*required=*/true, rule.name, path) ||
      !readMatch(*object, rule, path) || !readAssign(*object, rule, path))
    return false;
  if (const JSONValue *priority = object->get("priority")) {
    auto number = priority->getAsInteger();
    if (!number)
      return reject(path.field("priority"), "expected integer");
    rule.priority = *number;
  }
  return true;
}

/// Checks the header that both kinds of files have: {"format": "htp-policy",
/// "version": 1, …}.
static const JSONObject *readHeader(const JSONValue &value,
                                    StringLiteral format, StringLiteral body,
                                    Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object || !onlyKeys(*object, {"format", "version", body}, path))
    return nullptr;
  if (object->getString("format") != format) {
    if (format == "htp-policy")
      path.field("format").report("expected \"htp-policy\"");
    else
      path.field("format").report("expected \"htp-overrides\"");
    return nullptr;
  }
  if (object->getInteger("version") != 1) {
    path.field("version").report("expected 1");
    return nullptr;
  }
  return object;
}

Expected<Policy> Policy::parse(StringRef text) {
  Expected<JSONDocument> document = parseJSON(text);
  if (!document)
    return document.takeError();
  Path::Root root("policy");
  Policy policy;
  const JSONObject *object =
      readHeader(document->root(), "htp-policy", "rules", Path(root));
  if (!object || !readList(*object, "rules", /*required=*/true, policy.rules,
                           Path(root), readRule))
    return root.getError();
  for (size_t i = 0; i < policy.rules.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (policy.rules[i].sameConditions(policy.rules[j]) &&
          !policy.rules[i].sameAssignment(policy.rules[j]))
        return llvm::createStringError(
            "rules '%s' and '%s' match the same nodes and assign them "
            "differently",
            policy.rules[j].name.c_str(), policy.rules[i].name.c_str());
  return policy;
}

Expected<Overrides> Overrides::parse(StringRef text) {
  Expected<JSONDocument> document = parseJSON(text);
  if (!document)
    return document.takeError();
  Path::Root root("overrides");
  Path path(root), nodes = path.field("nodes");
  const JSONObject *names = asObject(document->root(), path);
  if (!names)
    return root.getError();
  // The mapping may be given alone, without a header.
  bool plain = !names->get("format");
  if (!plain) {
    const JSONObject *object =
        readHeader(document->root(), "htp-overrides", "nodes", path);
    if (!object)
      return root.getError();
    const JSONValue *body = object->get("nodes");
    if (!body)
      nodes.report("missing, expected object");
    names = body ? asObject(*body, nodes) : nullptr;
    if (!names)
      return root.getError();
  }
  std::map<std::string, std::string> modules; // the last entry of a node counts
  for (const auto &[node, module] : *names) {
    auto target = module.getAsString();
    if (!target) {
      (plain ? path : nodes).field(node).report("expected string");
      return root.getError();
    }
    modules[node.str()] = target->str();
  }
  Overrides overrides;
  overrides.modules.assign(modules.begin(), modules.end());
  return overrides;
}

template <typename T> static Expected<T> loadFile(StringRef path) {
  auto buffer = openInput(path);
  if (!buffer)
    return llvm::createStringError("'%s': %s", path.str().c_str(),
                                   llvm::toString(buffer.takeError()).c_str());
  Expected<T> parsed = T::parse((*buffer)->getBuffer());
  if (!parsed)
    return llvm::createStringError("'%s': %s", path.str().c_str(),
                                   llvm::toString(parsed.takeError()).c_str());
  return parsed;
}

Expected<Policy> Policy::load(StringRef path) { return loadFile<Policy>(path); }
Expected<Overrides> Overrides::load(StringRef path) {
  return loadFile<Overrides>(path);
}
