// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolving scopes of both exporters, and trees inferred from them.

#include "HTP/Hierarchy/Scopes.h"

#include "gtest/gtest.h"

using namespace htp;

/// {path, calls}
static ModuleTree treeOf(std::vector<std::pair<std::string, int64_t>> entries) {
  std::vector<Module> modules(1);
  for (auto &[path, calls] : entries) {
    modules.emplace_back().path = path;
    modules.back().calls = calls;
  }
  return llvm::cantFail(ModuleTree::create(std::move(modules)));
}

/// "path#call", or "?".
static std::string show(const ModuleTree &tree,
                        std::optional<ModuleCall> answer) {
  return answer ? tree[answer->module].path + "#" + std::to_string(answer->call)
                : "?";
}

TEST(Scopes, Components) {
  EXPECT_EQ(scopeComponent("encoder.layer.0"), "layer.0");
  EXPECT_EQ(scopeComponent("encoder.layer.0.1"), "layer.0.1");
  EXPECT_EQ(scopeComponent("encoder"), "encoder");
  EXPECT_EQ(scopeComponent("0.1"), "0.1");
  EXPECT_EQ(scopeComponent(""), "");
  EXPECT_EQ(*scopeOf("/a/b/MatMul"), "/a/b");
  EXPECT_EQ(*scopeOf("/MatMul"), "");
  EXPECT_FALSE(scopeOf("MatMul_1"));
}

TEST(Scopes, AChildOfACalledSequentialRepeatsIt) {
  ModuleTree tree = treeOf({{"layer", 1}, {"layer.0", 1}, {"layer.0.conv", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/layer/layer.0/conv")),
            "layer.0.conv#0");
  EXPECT_EQ(show(tree, resolver.resolve("/layer/layer.0")), "layer.0#0");
  EXPECT_EQ(show(tree, resolver.resolve("")), "#0");
}

TEST(Scopes, AModuleThatNeverRanIsLeftOut) {
  ModuleTree tree = treeOf({{"model", 0},
                            {"model.decoder", 1},
                            {"model.decoder.layers", 0},
                            {"model.decoder.layers.0", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/decoder/layers.0")),
            "model.decoder.layers.0#0");
}

TEST(Scopes, CalledPastTheModulesAbove) {
  ModuleTree tree = treeOf({{"a", 1},
                            {"a.b", 1},
                            {"a.b.c", 1},
                            {"d", 1},
                            {"d.e", 1},
                            {"d.f", 1},
                            {"d.e.g", 1},
                            {"d.f.g", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/a/c")), "a.b.c#0");
  EXPECT_EQ(show(tree, resolver.resolve("/c")), "a.b.c#0");
  EXPECT_EQ(show(tree, resolver.resolve("/d/g")), "?"); // which one?
  EXPECT_EQ(show(tree, resolver.resolve("/d/c")), "?");
}

TEST(Scopes, SecondCalls) {
  ModuleTree tree = treeOf({{"x", 1}, {"x.att", 2}, {"x.att.q_1", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/x/att_1")), "x.att#1");
  EXPECT_EQ(show(tree, resolver.resolve("/x/att_2")), "?"); // it ran twice
  EXPECT_EQ(show(tree, resolver.resolve("/x_1")), "?");
  EXPECT_EQ(show(tree, resolver.resolve("/x/att/q_1")), "x.att.q_1#0");
}

TEST(Scopes, WhatCouldBeTwoModulesIsNone) {
  ModuleTree tree = treeOf(
      {{"att", 2}, {"att_1", 1}, {"a", 0}, {"a.fc", 1}, {"b", 0}, {"b.fc", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/att_1")), "?");
  EXPECT_EQ(show(tree, resolver.resolve("/fc")), "?");
}

TEST(Scopes, NodesAndValues) {
  ModuleTree tree = treeOf({{"a", 1}, {"a.Norm", 1}});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolveNode("/a/MatMul_1", "MatMul")), "a#0");
  EXPECT_EQ(
      show(tree, resolver.resolveNode("/a/MatMul/MatMulAddFusion", "Gemm")),
      "a#0");
  // Nothing was appended here: /a/Gone is a module that is not in the tree.
  EXPECT_EQ(show(tree, resolver.resolveNode("/a/Gone/Add", "Add")), "?");
  EXPECT_EQ(show(tree, resolver.resolveNode("MatMul_1", "MatMul")), "?");
  EXPECT_EQ(show(tree, resolver.resolveValue("/a/Norm/Add_output_0")),
            "a.Norm#0");
}

TEST(Scopes, ATreeFromScopes) {
  ModuleTree tree = treeFromScopes(
      {"/decoder/layers.0/fc", "/decoder/layers.0/act",
       "/decoder/layers.0/act_1", "/decoder/stem/stem.0", "/decoder//bad", ""},
      {"model.decoder.layers.0.fc.weight", "head.weight", "scale",
       "bad..name"});
  std::vector<std::string> paths;
  for (const Module &module : tree.all())
    paths.push_back(module.path);
  EXPECT_EQ(paths, (std::vector<std::string>{
                       "", "model", "model.decoder", "model.decoder.layers",
                       "model.decoder.layers.0", "model.decoder.layers.0.fc",
                       "model.decoder.layers.0.act", "model.decoder.stem",
                       "model.decoder.stem.0", "head"}));
  EXPECT_EQ(tree[*tree.find("model.decoder.layers.0.act")].calls, 2);
  EXPECT_EQ(tree[*tree.find("head")].calls, 0);
  EXPECT_TRUE(tree.findParameter("head.weight"));
  EXPECT_TRUE(tree.findParameter("scale"));
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/decoder/layers.0/act_1")),
            "model.decoder.layers.0.act#1");
  EXPECT_EQ(show(tree, resolver.resolve("/decoder/stem/stem.0")),
            "model.decoder.stem.0#0");
}

/// A module is missing from the scopes of its submodules only if it never runs.
TEST(Scopes, ModulesThatRunAreNotSkipped) {
  ModuleTree tree =
      treeFromScopes({"/block/expand", "/block/gate", "/block/gate/expand"},
                     {"block.gate.expand.weight"});
  ScopeResolver resolver(tree);
  EXPECT_EQ(show(tree, resolver.resolve("/block/expand")), "block.expand#0");
  EXPECT_EQ(show(tree, resolver.resolve("/block/gate/expand")),
            "block.gate.expand#0");
}

TEST(Scopes, PythonLists) {
  auto list = parsePythonList(R"(['', "it's", 'a\'b'])");
  ASSERT_TRUE(list);
  EXPECT_EQ(*list, (std::vector<std::string>{"", "it's", "a'b"}));
  EXPECT_TRUE(parsePythonList("[]")->empty());
  for (const char *bad : {"", "'a'", "['a'", "['a' 'b']", "[a]", "['a]"})
    EXPECT_FALSE(parsePythonList(bad)) << bad;
}

TEST(Scopes, ExportNotes) {
  auto scope =
      parseExportScope("['', 'layer@1', 'layer.fc@1', 'linear_4']",
                       "['demo.Net', 'demo.Layer', "
                       "'torch.nn.modules.linear.Linear', 'aten.linear']");
  ASSERT_TRUE(scope);
  EXPECT_EQ(scope->value, "linear_4");
  EXPECT_EQ(scope->frames[2].path, "layer.fc");
  EXPECT_EQ(scope->frames[2].call, 1);
  ExportTreeBuilder builder;
  builder.add(*scope);
  ModuleTree tree = builder.build();
  EXPECT_EQ(tree[0].className, "Net");
  const Module &fc = tree[*tree.find("layer.fc")];
  EXPECT_EQ(fc.className, "Linear");
  EXPECT_TRUE(fc.torchNN);
  EXPECT_EQ(fc.calls, 2);
  EXPECT_FALSE(parseExportScope("['x']", ""));
  EXPECT_FALSE(parseExportScope("garbage", ""));
}

// A value may be called anything. What would be a parameter without a name is
// none: the tree could not be read again.
TEST(Scopes, ParametersOfExportNotesHaveNames) {
  ExportTreeBuilder builder;
  builder.add(*parseExportScope("['', 'fc', 'mul']", ""));
  builder.addParameters({".", "", "fc.", "fc.weight"});
  ModuleTree tree = builder.build();
  EXPECT_TRUE(tree[ModuleTree::root()].parameters.empty());
  auto fc = tree.find("fc");
  ASSERT_TRUE(fc);
  ASSERT_EQ(tree[*fc].parameters.size(), 1u);
  EXPECT_EQ(tree[*fc].parameters[0].name, "weight");
}

TEST(Scopes, SourceLines) {
  auto line = lastSourceLine("File \"a.py\", line 3, in forward\n  x = f(y)\n"
                             "  File \"b/c.py\", line 12, in forward\n  z");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "b/c.py");
  EXPECT_EQ(line->line, 12u);
  // A line in PyTorch itself says little, but it is used if there is no other.
  line = lastSourceLine("File \"b.py\", line 4, in forward\n  self.fc(x)\n"
                        "  File \"/x/torch/nn/linear.py\", line 9, in f\n");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "b.py");
  line = lastSourceLine("File \"/x/torch/a.py\", line 1, in f\n"
                        "  File \"/x/torch/b.py\", line 2, in f\n");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "/x/torch/b.py");
  EXPECT_FALSE(lastSourceLine("no trace"));
  EXPECT_FALSE(lastSourceLine("File \"a.py\", line x"));
}

/// An at sign is part of a name unless a number follows. The last number is
/// that of the module's own call.
TEST(Scopes, CallsInExportNotes) {
  auto frame = [](std::string path) {
    auto scope = parseExportScope("['" + path + "', 'value']", "");
    return scope->frames[0].path + "#" + std::to_string(scope->frames[0].call);
  };
  EXPECT_EQ(frame("a.b@2"), "a.b#2");
  EXPECT_EQ(frame("a@1.b"), "a.b#0");
  EXPECT_EQ(frame("a@1.b@3"), "a.b#3");
  EXPECT_EQ(frame("a@b"), "a@b#0");
  EXPECT_EQ(frame("a@"), "a@#0");
  // A number that no call has.
  EXPECT_EQ(frame("a@99999999999999999999"), "a#0");
}

/// Classes without one for each module say nothing.
TEST(Scopes, ClassesThatDoNotFitTheNotes) {
  auto scope = parseExportScope("['', 'fc', 'value']", "['demo.Net']");
  ASSERT_TRUE(scope);
  EXPECT_EQ(scope->frames[1].qualified, "");
  EXPECT_TRUE(parseExportScope("['', 'fc', 'value']", "nonsense"));
}

/// A tree has no module with an empty component in its path, and a parameter of
/// such a module none to be in. One whose module has no notes makes it known,
/// unless its parent ran: then that reads the parameter itself.
TEST(Scopes, OddPathsInExportNotes) {
  ExportTreeBuilder builder;
  EXPECT_TRUE(builder.empty());
  auto scope = parseExportScope("['', 'a', 'a..b', '.c', 'd.', 'value']", "");
  builder.add(*scope);
  builder.addParameters(
      {"scale", "a.w", "a.fc.w", "lost.fc.w", "a..b.w", ".c.w", "far.w"});
  ModuleTree tree = builder.build();
  std::vector<std::string> paths;
  for (const Module &module : tree.all())
    paths.push_back(module.path);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"", "a", "lost", "lost.fc", "far"}));
  EXPECT_TRUE(tree.findParameter("scale"));
  EXPECT_TRUE(tree.findParameter("a.w"));
  EXPECT_FALSE(tree.findParameter("a.fc.w"));
  EXPECT_TRUE(tree.findParameter("lost.fc.w"));
  EXPECT_EQ(ExportTreeBuilder().build().size(), 1u);
}
