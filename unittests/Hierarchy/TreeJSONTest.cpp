// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON: written and read again, and what is refused.

#include "HTP/Hierarchy/TreeJSON.h"

#include "gtest/gtest.h"

using namespace htp;

static std::string errorOf(llvm::StringRef text) {
  llvm::Expected<ModuleTree> tree = treeFromJSON(text);
  return tree ? "" : llvm::toString(tree.takeError());
}

/// The error for a root with these fields after its path.
static std::string errorOfModule(std::string fields) {
  return errorOf(R"({"modules": [{"path": "", )" + fields + "}]}");
}

/// The error for a parameter with these fields.
static std::string errorOfParameter(std::string fields) {
  return errorOfModule(R"("class": "", "qualified": "", "calls": 1,
                          "torch_nn": false, "parameters": [{)" +
                       fields + "}]");
}

TEST(TreeJSON, AnythingThatIsWrittenCanBeRead) {
  std::vector<Module> modules(2);
  modules[0].className = "Net";
  modules[0].qualified = "demo.Net";
  Module &fc = modules[1];
  fc.path = "list.fc";
  fc.className = "Linear";
  fc.qualified = "torch.nn.modules.linear.Linear";
  fc.torchNN = true;
  fc.calls = 3;
  fc.aliases = {"again"};
  Parameter weight;
  weight.name = "weight";
  weight.shape = {4, kDynamicSize, 0};
  weight.dtype = "bfloat16";
  weight.hash = 0xff;
  weight.valuesHash = ~0ull;
  weight.tied = "list.fc.bias";
  Parameter buffer;
  buffer.name = "dict.mean";
  buffer.buffer = true;
  Parameter constant;
  constant.name = "lifted";
  constant.constant = true;
  fc.parameters = {weight, buffer, constant};
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  Producer producer;
  producer.name = "torch";
  producer.source = "export";
  producer.exporter = "dynamo";
  producer.fallback = "because \xc3\xa4";
  tree.setProducer(producer);

  ModuleTree read = llvm::cantFail(treeFromJSON(treeToJSON(tree)));
  ASSERT_EQ(read.size(), tree.size());
  for (ModuleId id : tree.ids()) {
    EXPECT_EQ(read[id].path, tree[id].path);
    EXPECT_EQ(read[id].className, tree[id].className);
    EXPECT_EQ(read[id].qualified, tree[id].qualified);
    EXPECT_EQ(read[id].torchNN, tree[id].torchNN);
    EXPECT_EQ(read[id].calls, tree[id].calls);
    EXPECT_EQ(read[id].aliases, tree[id].aliases);
    EXPECT_EQ(read[id].parameters, tree[id].parameters);
    EXPECT_EQ(read[id].canonical, tree[id].canonical);
  }
  EXPECT_EQ(read.getProducer().name, "torch");
  EXPECT_EQ(read.getProducer().source, "export");
  EXPECT_EQ(read.getProducer().exporter, "dynamo");
  EXPECT_EQ(read.getProducer().fallback, "because \xc3\xa4");
  // The same tree always gives the same text.
  EXPECT_EQ(treeToJSON(read), treeToJSON(tree));
}

/// An alias is a node of the tree, but in the file it is a field of its module.
TEST(TreeJSON, AliasesAreWrittenOnce) {
  std::vector<Module> modules(2);
  modules[1].path = "a";
  modules[1].aliases = {"b"};
  std::string text =
      treeToJSON(llvm::cantFail(ModuleTree::create(std::move(modules))));
  EXPECT_NE(text.find(R"("aliases":["b"])"), std::string::npos);
  EXPECT_EQ(text.find(R"("path":"b")"), std::string::npos);
  EXPECT_EQ(text.find("producer"), std::string::npos); // nothing is known
}

/// Trees from names have no classes; a trace must name them (TraceTest.cpp).
TEST(TreeJSON, ClassesMayBeUnknown) {
  EXPECT_EQ(errorOfModule(R"("class": "", "qualified": "", "calls": 0,
                             "torch_nn": true, "parameters": [])"),
            "");
}

TEST(TreeJSON, ErrorsNameThePlace) {
  EXPECT_EQ(errorOf("[]"), "expected object when parsing hierarchy");
  EXPECT_EQ(errorOf("{}"), "missing, expected array at hierarchy.modules");
  EXPECT_EQ(errorOf(R"({"modules": {}})"),
            "expected array at hierarchy.modules");
  EXPECT_EQ(errorOf(R"({"modules": [1]})"),
            "expected object at hierarchy.modules[0]");
  EXPECT_EQ(errorOf(R"({"modules": [{"path": 1}]})"),
            "expected string at hierarchy.modules[0].path");
  EXPECT_EQ(errorOfModule(R"("class": "Net")"),
            "missing, expected string at hierarchy.modules[0].qualified");
  const std::string names = R"("class": "Net", "qualified": "demo.Net", )";
  EXPECT_EQ(errorOfModule(names + R"("calls": 1048577)"),
            "expected integer from 0 to 1048576 at hierarchy.modules[0].calls");
  EXPECT_EQ(errorOfModule(names + R"("calls": 1, "torch_nn": 1)"),
            "expected boolean at hierarchy.modules[0].torch_nn");
  EXPECT_EQ(
      errorOfModule(names + R"("calls": 1, "torch_nn": true, "aliases": [1])"),
      "expected string at hierarchy.modules[0].aliases[0]");
  EXPECT_EQ(errorOfModule(names + R"("calls": 1, "torch_nn": true)"),
            "missing, expected array at hierarchy.modules[0].parameters");
}

TEST(TreeJSON, ErrorsInParameters) {
  const std::string named = R"("name": "w", "kind": "parameter", )";
  const std::string place = " at hierarchy.modules[0].parameters[0].";
  EXPECT_EQ(errorOfParameter(R"("name": "")"),
            "expected text, found \"\"" + place + "name");
  EXPECT_EQ(errorOfParameter(named + R"("shape": [])"),
            "missing, expected string" + place + "dtype");
  EXPECT_EQ(errorOfParameter(named + R"("dtype": "float32")"),
            "missing, expected array" + place + "shape");
  EXPECT_EQ(errorOfParameter(named + R"("dtype": "float32", "shape": 3)"),
            "expected array" + place + "shape");
  EXPECT_EQ(
      errorOfParameter(named + R"("dtype": "", "hash": "12", "shape": [])"),
      "expected 16 hexadecimal digits in lower case" + place + "hash");
  EXPECT_EQ(errorOfParameter(named + R"("dtype": "", "tied": 1)"),
            "expected string" + place + "tied");
}

TEST(TreeJSON, WhatIsNoTree) {
  auto module = [](std::string path) {
    return R"({"path": ")" + path + R"(", "class": "", "qualified": "",
              "calls": 1, "torch_nn": false, "parameters": []})";
  };
  EXPECT_EQ(errorOf(R"({"modules": []})"),
            "not a tree at hierarchy.modules: the first module must be the "
            "root, whose path is empty");
  EXPECT_EQ(
      errorOf(R"({"modules": [)" + module("") + "," + module("a.") + "]}"),
      "not a tree at hierarchy.modules: module path 'a.' has an empty "
      "component");
  EXPECT_EQ(errorOf(R"({"modules": [)" + module("") +
                    R"(], "producer": {"name": 1}})"),
            "expected string at hierarchy.producer.name");
  EXPECT_EQ(errorOf(R"({"modules": [)" + module("") +
                    R"(], "producer": {"name": "x", "source": []}})"),
            "expected string at hierarchy.producer.source");
}

TEST(TreeJSON, NestingIsBounded) {
  std::string deep = std::string(257, '[') + std::string(257, ']');
  EXPECT_EQ(errorOf(deep), "nested 257 levels deep, expected at most 256");
}
