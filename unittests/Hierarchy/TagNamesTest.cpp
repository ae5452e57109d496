// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tags are made of class names, and made unique.

#include "HTP/Hierarchy/TagNames.h"

#include "gtest/gtest.h"

using namespace htp;

/// {path, class}; a lower-case class stands for one of torch.nn, "?" for an
/// unknown one.
static ModuleTree
treeOf(std::vector<std::pair<std::string, std::string>> entries) {
  std::vector<Module> modules;
  for (auto &[path, className] : entries) {
    Module module;
    module.path = path;
    module.className = className == "?" ? "" : className;
    module.torchNN = !className.empty() && islower(className[0]);
    modules.push_back(std::move(module));
  }
  return llvm::cantFail(ModuleTree::create(std::move(modules)));
}

static std::string tag(const ModuleTree &tree, llvm::StringRef path,
                       bool keepTorchNN = false) {
  return TagNames(tree, keepTorchNN)[*tree.find(path)].str();
}

TEST(TagNames, ElementsOfAList) {
  ModuleTree tree = treeOf({{"", "Model"},
                            {"encoder", "Encoder"},
                            {"encoder.layer", "modulelist"},
                            {"encoder.layer.0", "Layer"},
                            {"encoder.layer.0.self", "Attention"},
                            {"encoder.layer.0.self.query", "linear"},
                            {"pooler", "Pooler"}});
  // One element is still an element.
  EXPECT_EQ(tag(tree, "encoder.layer.0.self"),
            "/Model/Encoder/Layer.0/Attention");
  EXPECT_EQ(tag(tree, "encoder.layer.0.self.query"),
            "/Model/Encoder/Layer.0/Attention");
  EXPECT_EQ(tag(tree, "encoder.layer"), "/Model/Encoder");
  EXPECT_EQ(tag(tree, "pooler"), "/Model/Pooler");
  EXPECT_EQ(tag(tree, "encoder.layer.0.self.query", true),
            "/Model/Encoder/modulelist/Layer.0/Attention/linear");
}

TEST(TagNames, AsManyComponentsAsItTakes) {
  ModuleTree tree = treeOf({{"", "ResNet"},
                            {"layer1", "sequential"},
                            {"layer1.0", "Block"},
                            {"layer1.1", "Block"},
                            {"layer2", "sequential"},
                            {"layer2.0", "Block"},
                            {"self_attn", "Attention"},
                            {"encoder_attn", "Attention"}});
  EXPECT_EQ(tag(tree, "layer1.0"), "/ResNet/Block.layer1.0");
  EXPECT_EQ(tag(tree, "layer1.1"), "/ResNet/Block.layer1.1");
  EXPECT_EQ(tag(tree, "encoder_attn"), "/ResNet/Attention.encoder_attn");
}

TEST(TagNames, TheRootIsAPeerOfItsChildren) {
  ModuleTree tree = treeOf({{"", "Tree"}, {"left", "Tree"}});
  EXPECT_EQ(tag(tree, ""), "/Tree");
  EXPECT_EQ(tag(tree, "left"), "/Tree/Tree.left");
}

TEST(TagNames, UnknownClasses) {
  ModuleTree tree = treeOf({{"", "?"},
                            {"encoder", "?"},
                            {"encoder.layer.0", "?"},
                            {"encoder.layer.0.fc", "?"},
                            {"encoder.stem", "?"},
                            {"encoder.stem.0", "?"}});
  EXPECT_EQ(tag(tree, ""), "/");
  EXPECT_EQ(tag(tree, "encoder.layer.0.fc"), "/encoder/layer.0/fc");
  EXPECT_EQ(tag(tree, "encoder.stem.0"), "/encoder/stem/stem.0");
}

TEST(TagNames, EveryTagIsUnique) {
  ModuleTree tree = treeOf({{"", "M"},
                            {"a", "modulelist"},
                            {"a.x", "Block"},
                            {"x", "Block"},
                            {"b", "modulelist"},
                            {"b.x", "Block"}});
  TagNames tags(tree);
  for (ModuleId id : tree.ids())
    if (tags.taggedModule(id) == id)
      EXPECT_EQ(tags.find(tags[id]), id) << tree[id].path;
  EXPECT_EQ(tags[*tree.find("x")], "/M/Block.x");
  EXPECT_EQ(tags[*tree.find("a.x")], "/M/Block.a.x");
}

TEST(TagNames, ManyAlikeAndDeep) {
  std::vector<std::pair<std::string, std::string>> entries = {{"", "M"}};
  std::string path = "0";
  for (unsigned i = 0; i < 1000; ++i, path += ".0") {
    entries.push_back({path, "sequential"});
    entries.push_back({path + ".m", "Block"});
  }
  ModuleTree tree = treeOf(entries);
  EXPECT_EQ(tag(tree, "0.m"), "/M/Block.0.m");
  EXPECT_EQ(tag(tree, "0.0.m"), "/M/Block.0.0.m");
}
