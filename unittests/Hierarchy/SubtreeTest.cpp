// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of one module alone: paths, calls, aliases and tied parameters.

#include "HTP/Hierarchy/Subtree.h"

#include "gtest/gtest.h"

using namespace htp;

static Module named(std::string path, int64_t calls = 1) {
  Module module;
  module.path = std::move(path);
  module.calls = calls;
  return module;
}

static std::vector<std::string> pathsOf(const ModuleTree &tree) {
  std::vector<std::string> paths;
  for (const Module &module : tree.all())
    paths.push_back(module.path);
  return paths;
}

TEST(Subtree, PathsWithinAModule) {
  EXPECT_EQ(pathWithin("a.b", "a.b.c.d"), "c.d");
  EXPECT_EQ(pathWithin("a.b", "a.b"), "");
  EXPECT_EQ(pathWithin("", "a.b"), "a.b");
  // A name that only begins like the module's is another module.
  EXPECT_EQ(pathWithin("layer.1", "layer.10.fc"), std::nullopt);
  EXPECT_EQ(pathWithin("a.b", "a"), std::nullopt);
  EXPECT_EQ(pathWithin("a.b", "c.a.b"), std::nullopt);
}

TEST(Subtree, HoldsWhatIsBelowTheModule) {
  Module layer = named("layer.1");
  layer.className = "Layer";
  layer.qualified = "torch.nn.Layer";
  layer.torchNN = true;
  ModuleTree tree = llvm::cantFail(
      ModuleTree::create({named(""), named("layer.10"), layer,
                          named("layer.1.fc"), named("layer.1.fc.act")}));
  Producer producer;
  producer.name = "test";
  tree.setProducer(producer);
  ModuleTree part = subtree(tree, *tree.find("layer.1"));
  EXPECT_EQ(pathsOf(part), (std::vector<std::string>{"", "fc", "fc.act"}));
  EXPECT_EQ(part[0].className, "Layer");
  // Tags always name the class of a root, so it counts as none of torch.nn's.
  EXPECT_FALSE(part[0].torchNN);
  EXPECT_EQ(part.getProducer().name, "test");
  EXPECT_EQ(pathsOf(subtree(tree, ModuleTree::root())), pathsOf(tree));
}

/// A module that ran six times in two calls of its layer ran three times in
/// each. What ran in some calls only still ran; what never ran never does.
TEST(Subtree, CountsCallsInOneCall) {
  ModuleTree tree = llvm::cantFail(
      ModuleTree::create({named(""), named("layer", 2), named("layer.six", 6),
                          named("layer.once", 1), named("layer.never", 0)}));
  ModuleTree part = subtree(tree, *tree.find("layer"));
  EXPECT_EQ(part[0].calls, 1);
  EXPECT_EQ(part[*part.find("six")].calls, 3);
  EXPECT_EQ(part[*part.find("once")].calls, 1);
  EXPECT_EQ(part[*part.find("never")].calls, 0);
  // A container never ran, and yet what is in it did.
  ModuleTree list = llvm::cantFail(
      ModuleTree::create({named(""), named("list", 0), named("list.0", 2)}));
  EXPECT_EQ(subtree(list, *list.find("list"))[1].calls, 2);
}

TEST(Subtree, AliasesThatAreInside) {
  Module shared = named("a.shared");
  shared.aliases = {"a.again", "b.again"};
  ModuleTree tree = llvm::cantFail(
      ModuleTree::create({named(""), named("a"), shared, named("b")}));
  ModuleTree a = subtree(tree, *tree.find("a"));
  EXPECT_EQ(pathsOf(a), (std::vector<std::string>{"", "shared", "again"}));
  EXPECT_EQ(a[*a.find("again")].canonical, *a.find("shared"));
  // Where the module itself is outside, what is inside stands for it.
  ModuleTree b = subtree(tree, *tree.find("b"));
  EXPECT_EQ(pathsOf(b), (std::vector<std::string>{"", "again"}));
  EXPECT_EQ(b[1].canonical, 1u);
  // A module that holds itself under another name does not hold it in the end.
  Module loop = named("cell");
  loop.aliases = {"cell.self"};
  ModuleTree cyclic = llvm::cantFail(ModuleTree::create({named(""), loop}));
  EXPECT_EQ(pathsOf(subtree(cyclic, *cyclic.find("cell"))),
            std::vector<std::string>{""});
}

TEST(Subtree, TiedParametersThatAreInside) {
  Module decoder = named("a.decoder");
  for (const char *tied : {"a.embed.weight", "b.weight", ""}) {
    Parameter &parameter = decoder.parameters.emplace_back();
    parameter.name = "p" + std::to_string(decoder.parameters.size());
    parameter.tied = tied;
  }
  ModuleTree tree =
      llvm::cantFail(ModuleTree::create({named(""), named("a"), decoder}));
  ModuleTree part = subtree(tree, *tree.find("a"));
  const Module &inner = part[*part.find("decoder")];
  EXPECT_EQ(inner.parameters[0].tied, "embed.weight");
  EXPECT_EQ(inner.parameters[1].tied, ""); // its other half is elsewhere
  EXPECT_EQ(inner.parameters[2].tied, "");
}
