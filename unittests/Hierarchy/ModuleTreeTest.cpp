// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building module trees, aliases, containers, and queries.

#include "HTP/Hierarchy/ModuleTree.h"

#include "gtest/gtest.h"

using namespace htp;

static Module named(std::string path, std::string className = "") {
  Module module;
  module.path = std::move(path);
  module.className = std::move(className);
  return module;
}

static ModuleTree treeOf(std::vector<std::string> paths) {
  std::vector<Module> modules = {named("")};
  for (std::string &path : paths)
    modules.push_back(named(std::move(path)));
  return llvm::cantFail(ModuleTree::create(std::move(modules)));
}

static std::string errorOf(std::vector<Module> modules) {
  llvm::Expected<ModuleTree> tree = ModuleTree::create(std::move(modules));
  return tree ? "" : llvm::toString(tree.takeError());
}

TEST(ModuleTree, Navigation) {
  ModuleTree tree = treeOf({"a", "a.0", "a.0.x", "a.1", "b"});
  ModuleId a = *tree.find("a"), x = *tree.find("a.0.x"), a1 = *tree.find("a.1");
  EXPECT_EQ(tree[x].depth, 3u);
  EXPECT_EQ(tree[x].attributeName(), "x");
  EXPECT_EQ(tree[a].attributeName(), "a");
  EXPECT_EQ(tree.lowestCommonAncestor(x, a1), a);
  EXPECT_EQ(tree.lowestCommonAncestor({x, a1, *tree.find("b")}),
            ModuleTree::root());
  EXPECT_EQ(tree.childTowards(a, x), *tree.find("a.0"));
  EXPECT_TRUE(tree.isAncestorOrSelf(a, x));
  EXPECT_FALSE(tree.isAncestorOrSelf(a1, x));
  EXPECT_EQ(tree.nearest("a.0.y.z"), *tree.find("a.0"));
  EXPECT_EQ(tree.nearest("nowhere"), ModuleTree::root());
  EXPECT_EQ(tree.children(a).size(), 2u);
  EXPECT_FALSE(tree.find("a.2"));
}

TEST(ModuleTree, MissingParentsAreAdded) {
  ModuleTree tree = treeOf({"encoder.layer.0.x", "encoder"});
  EXPECT_EQ(tree[*tree.find("encoder.layer.0.x")].parent,
            *tree.find("encoder.layer.0"));
  EXPECT_EQ(tree[*tree.find("encoder.layer")].parent, *tree.find("encoder"));
}

TEST(ModuleTree, AnAliasIsANodeOfItsOwn) {
  Module shared = named("shared", "Embedding");
  shared.aliases = {"encoder.embed"};
  Parameter weight;
  weight.name = "weight";
  shared.parameters.push_back(weight);
  ModuleTree tree =
      llvm::cantFail(ModuleTree::create({named(""), shared, named("encoder")}));
  ModuleId alias = *tree.find("encoder.embed");
  EXPECT_EQ(tree[alias].parent, *tree.find("encoder"));
  EXPECT_EQ(tree[alias].canonical, *tree.find("shared"));
  EXPECT_EQ(tree.findParameter("encoder.embed.weight")->module, alias);
  EXPECT_FALSE(tree.findParameter("encoder.embed.bias"));
}

TEST(ModuleTree, AParameterIsFoundFromWhereverOneLooks) {
  std::vector<Module> modules = {named("")};
  for (unsigned i = 0; i < 20; ++i) {
    modules.push_back(named("layer." + std::to_string(i)));
    for (const char *name : {"w", "dict.w"}) {
      Parameter parameter;
      parameter.name = name;
      modules.back().parameters.push_back(parameter);
    }
  }
  modules.front().parameters = modules.back().parameters;
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  for (const char *path : {"w", "dict.w", "layer.1.w", "layer.12.dict.w",
                           "layer.1", "layer.1w", "layer.20.w", "x"})
    for (ModuleId near : tree.ids()) {
      auto found = tree.findParameter(path, near),
           expected = tree.findParameter(path);
      ASSERT_EQ(found.has_value(), expected.has_value()) << path;
      if (found)
        EXPECT_EQ(found->parameter, expected->parameter) << path;
    }
}

TEST(ModuleTree, Malformed) {
  EXPECT_NE(errorOf({}).find("must be the root"), std::string::npos);
  EXPECT_NE(errorOf({named("a")}).find("must be the root"), std::string::npos);
  EXPECT_EQ(errorOf({named(""), named("a"), named("a")}),
            "module path 'a' is given twice");
  EXPECT_EQ(errorOf({named(""), named("a..b")}),
            "module path 'a..b' has an empty component");
}

TEST(ModuleTree, WideAndDeep) {
  std::vector<std::string> wide, deep = {"m"};
  for (unsigned i = 0; i < 100000; ++i)
    wide.push_back("layers." + std::to_string(i));
  EXPECT_EQ(treeOf(wide).children(1).size(), 100000u); // of the list
  for (unsigned i = 0; i < 1000; ++i)
    deep.push_back(deep.back() + ".m");
  ModuleTree tree = treeOf(deep);
  EXPECT_EQ(tree[tree.size() - 1].depth, 1001u);
  EXPECT_EQ(tree.lowestCommonAncestor(tree.size() - 1, 5), 5u);
}

/// A ModuleList never runs, so many sources omit it.
TEST(ModuleTree, ContainersOnThePath) {
  std::vector<Module> modules(4);
  modules[1].path = "decoder";
  modules[2].path = "decoder.layers.0";
  modules[3].path = "decoder.layers.1";
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  auto layers = tree.find("decoder.layers");
  ASSERT_TRUE(layers);
  EXPECT_EQ(tree[*layers].calls, 0);
  EXPECT_EQ(tree[*tree.find("decoder.layers.1")].parent, *layers);
  // Nothing runs in the list, so the common ancestor is above it.
  EXPECT_EQ(tree.lowestCommonAncestor(*tree.find("decoder.layers.0"),
                                      *tree.find("decoder.layers.1")),
            *tree.find("decoder"));
}

/// Submodules of a shared module can be found by all of its paths.
TEST(ModuleTree, PathsThroughAliases) {
  std::vector<Module> modules(3);
  modules[1].path = "cell";
  modules[1].aliases = {"also", "cell.self"};
  modules[2].path = "cell.lin";
  modules[2].parameters.emplace_back().name = "weight";
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  EXPECT_EQ(tree.resolve("also.lin"), tree.find("cell.lin"));
  EXPECT_EQ(tree.resolve("cell.self.self.self.lin"), tree.find("cell.lin"));
  EXPECT_EQ(tree.resolve("also.none"), std::nullopt);
  auto weight = tree.findParameter("also.lin.weight");
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->module, *tree.find("cell.lin"));
}
