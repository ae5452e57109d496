// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding modules by what a user writes: a path, a tag, a pattern or a class.

#include "HTP/Hierarchy/ModulePattern.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {
/// encoder.layer.{0,1}, each with an attention of which the second one is also
/// known as `head.attention`.
class ModulePattern : public testing::Test {
protected:
  void SetUp() override {
    std::vector<Module> modules;
    auto add = [&](std::string path, std::string className) -> Module & {
      Module &module = modules.emplace_back();
      module.path = std::move(path);
      module.className = className;
      module.qualified = className.empty() ? "" : "demo." + className;
      return module;
    };
    add("", "Net");
    add("encoder", "Encoder");
    add("encoder.layer.0", "Layer");
    add("encoder.layer.0.attention", "Attention");
    add("encoder.layer.1", "Layer");
    add("encoder.layer.1.attention", "Attention").aliases = {"head.attention"};
    add("head", "");
    tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  }

  /// The paths of what was found, or the error.
  static std::string show(const ModuleTree &tree,
                          llvm::Expected<std::vector<ModuleId>> found) {
    if (!found)
      return "error: " + llvm::toString(found.takeError());
    std::string text;
    for (ModuleId id : *found)
      text += (text.empty() ? "" : " ") + tree[id].path;
    return text;
  }
  std::string find(llvm::StringRef text) {
    return show(tree, findModules(tree, text));
  }
  std::string findClass(llvm::StringRef name) {
    return show(tree, findModulesOfClass(tree, name));
  }

  ModuleTree tree;
};
} // namespace

TEST_F(ModulePattern, Paths) {
  EXPECT_EQ(find("encoder.layer.0"), "encoder.layer.0");
  EXPECT_EQ(find(""), ""); // the root, whose path is empty
  // Nodes of a shared module are tagged with its own path.
  EXPECT_EQ(find("head.attention"), "encoder.layer.1.attention");
  EXPECT_EQ(find("encoder.layer.2"),
            "error: there is no module 'encoder.layer.2' in the module tree; "
            "did you mean 'encoder.layer.0'?");
  EXPECT_EQ(find("something.else.entirely"),
            "error: there is no module 'something.else.entirely' in the module "
            "tree");
}

TEST_F(ModulePattern, Tags) {
  EXPECT_EQ(find("/Net/Encoder/Layer.1"), "encoder.layer.1");
  EXPECT_EQ(find("/Net"), "");
  EXPECT_EQ(find("/Net/Encoder/Layer"),
            "error: no module has the tag '/Net/Encoder/Layer'; did you mean "
            "'/Net/Encoder/Layer.0'?");
}

TEST_F(ModulePattern, AStarStaysInAComponent) {
  EXPECT_EQ(find("encoder.layer.*"), "encoder.layer.0 encoder.layer.1");
  EXPECT_EQ(find("encoder.*"), "encoder.layer");
  EXPECT_EQ(find("e*r.layer.0"), "encoder.layer.0");
  EXPECT_EQ(find("encoder.layer.[1-9]"), "encoder.layer.1");
  EXPECT_EQ(find("encoder.layer.?"), "encoder.layer.0 encoder.layer.1");
  EXPECT_EQ(find("*.attention").find("encoder"), 0u); // head.attention
  EXPECT_EQ(find("*.0"), "error: no module's path matches '*.0' ('*' stays "
                         "within a component, '**' does not)");
}

TEST_F(ModulePattern, TwoStarsStandForAnyComponents) {
  // A shared module counts once, however many of its paths match.
  EXPECT_EQ(find("**.attention"),
            "encoder.layer.0.attention encoder.layer.1.attention");
  EXPECT_EQ(find("encoder.**.attention"),
            "encoder.layer.0.attention encoder.layer.1.attention");
  // Also for none.
  EXPECT_EQ(find("**.encoder"), "encoder");
  EXPECT_EQ(find("encoder.layer.1.**"),
            "encoder.layer.1 encoder.layer.1.attention");
  // All: those given above, and the list that holds the layers.
  EXPECT_EQ(llvm::cantFail(findModules(tree, "**")).size(), 8u);
}

/// Trying every way in which "**" may match would take longer than anyone
/// waits.
TEST(ModulePatterns, ManyStarsTakeNoTime) {
  std::string path = "a", pattern = "**.a";
  for (int i = 0; i < 60; ++i)
    path += ".a";
  for (int i = 0; i < 25; ++i)
    pattern += ".**.a";
  std::vector<Module> modules(2);
  modules[1].path = path;
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  EXPECT_EQ(llvm::cantFail(findModules(tree, pattern)).size(), 61u - 25u);
  EXPECT_TRUE(llvm::errorToBool(findModules(tree, pattern + ".b").takeError()));
}

TEST_F(ModulePattern, WhatIsNoPattern) {
  EXPECT_TRUE(isModulePattern("a.*"));
  EXPECT_TRUE(isModulePattern("a.?"));
  EXPECT_TRUE(isModulePattern("a.[01]"));
  EXPECT_FALSE(isModulePattern("a.b-c_d/e"));
  EXPECT_EQ(find("encoder.layer.[0")
                .find("error: 'encoder.layer.[0' is not a valid pattern"),
            0u);
}

TEST_F(ModulePattern, Classes) {
  EXPECT_EQ(findClass("Layer"), "encoder.layer.0 encoder.layer.1");
  EXPECT_EQ(findClass("demo.Encoder"), "encoder");
  EXPECT_EQ(findClass("Enoder"), "error: no module is of class 'Enoder'; did "
                                 "you mean 'Encoder'?");
  EXPECT_EQ(findClass("Bottleneck"),
            "error: no module is of class 'Bottleneck'");
  // Nobody means a class that is not known.
  EXPECT_EQ(findClass("ab"), "error: no module is of class 'ab'");
  EXPECT_EQ(findClass(""), "error: no module is of class ''");
}

TEST_F(ModulePattern, TheNearestName) {
  EXPECT_EQ(nearestName("atention", {"Attention", "attention", "ten"}),
            "attention");
  // Half of the letters may differ, not more.
  EXPECT_EQ(nearestName("abcd", {"wxyz"}), "");
  EXPECT_EQ(nearestName("abcd", {"abyz"}), "abyz");
  EXPECT_EQ(nearestName("abcd", {}), "");
  // Of equally near ones the first.
  EXPECT_EQ(nearestName("ab", {"aa", "bb"}), "aa");
}
