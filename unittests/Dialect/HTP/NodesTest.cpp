// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes read from ops of any dialect: what is a node, names, kinds,
// metadata, readers and contents.

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {
/// Ops are found by their attribute `is`.
class Nodes : public testing::Test {
protected:
  Nodes() {
    context.loadDialect<HTPDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  void parse(StringRef text) {
    module = parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (auto is = op->getAttrOfType<StringAttr>("is"); is && is == name)
        found = op;
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }
  /// The names of the nodes that `forEach` visits, in this order.
  template <typename ForEach> std::string visited(ForEach forEach) {
    std::string names;
    forEach(*module, [&](Operation *op) {
      auto is = op->getAttrOfType<StringAttr>("is");
      names += (names.empty() ? "" : " ") + (is ? is.str() : "?");
    });
    return names;
  }
  Attribute attribute(StringRef text) {
    Attribute parsed = parseAttribute(text, &context);
    EXPECT_TRUE(parsed) << text.str();
    return parsed;
  }

  MLIRContext context;
  OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

TEST_F(Nodes, WhatIsANode) {
  parse(R"(
    htp.hierarchy @Net : "demo.Net" { htp.module @a : "demo.A" }
    "t.outside"() {is = "outside"} : () -> ()
    func.func @main(%x: tensor<2xf32>) {
      %w = "t.constant"() {is = "weight", onnx.initializer} : () -> tensor<2xf32>
      %c = "t.constant"() {is = "constant"} : () -> tensor<2xf32>
      %n = "onnx.NoValue"() {value} : () -> none
      "t.if"() ({
        "t.add"(%x, %w) {is = "inner"} : (tensor<2xf32>, tensor<2xf32>) -> ()
        "t.yield"() {is = "yield"} : () -> ()
      }) {is = "outer"} : () -> ()
      "t.last"() {is = "last"} : () -> ()
      func.return
    }
    func.func private @Layer() attributes {htp.module = "a"} {
      "t.relu"() {is = "outlined"} : () -> ()
      "t.return"() : () -> ()
    })");
  // An op comes before those in it, what stands for no value is none; one in a
  // function that was outlined is not visited where tags must be absolute.
  EXPECT_EQ(visited(forEachRootedNode), "constant outer inner last");
  EXPECT_EQ(visited(forEachNode), "constant outer inner last outlined");
  for (StringRef name : {"constant", "outer", "inner", "last", "outlined"})
    EXPECT_TRUE(isNode(find(name))) << name.str();
  for (StringRef name : {"outside", "weight", "yield"})
    EXPECT_FALSE(isNode(find(name))) << name.str();
  EXPECT_TRUE(isInitializer(find("weight")));
  EXPECT_FALSE(isInitializer(find("constant")));
}

/// Scalars inside of a tagged op belong to it; what works on tensors is a node
/// as any other.
TEST_F(Nodes, WhatNeedsATag) {
  parse(R"(
    func.func @main(%x: tensor<2xf32>) {
      "t.generic"() ({
        %s = "t.constant"() {is = "scalar"} : () -> f32
        %t = "t.splat"(%s) {is = "tensor"} : (f32) -> tensor<2xf32>
        "t.log"(%s) {is = "tagged", htp.tag = #htp.tag<"">} : (f32) -> ()
        "t.yield"() : () -> ()
      }) {is = "generic", htp.tag = #htp.tag<"">} : () -> ()
      "t.generic"() ({
        %s = "t.constant"() {is = "alone"} : () -> f32
        "t.yield"() : () -> ()
      }) {is = "untagged"} : () -> ()
      func.return
    })");
  for (StringRef name : {"generic", "tensor", "tagged", "untagged", "alone"})
    EXPECT_TRUE(needsTag(find(name))) << name.str();
  EXPECT_FALSE(needsTag(find("scalar")));
}

TEST_F(Nodes, KindsAndDomains) {
  parse(R"(
    func.func @main() {
      "onnx.Softmax"() {is = "plain"} : () -> ()
      "onnx.SoftmaxV11"() {is = "old"} : () -> ()
      "onnx.V11"() {is = "short"} : () -> ()
      "tosa.conv2d"() {is = "other"} : () -> ()
      "onnx.Custom"() {is = "foreign", function_name = "FastGelu", domain_name = "com.microsoft"} : () -> ()
      "onnx.Custom"() {is = "local", function_name = "f", domain_name = ""} : () -> ()
      func.return
    })");
  auto show = [&](StringRef name) {
    Operation *op = find(name);
    return (getDomain(op) + ":" + getOpType(op)).str();
  };
  EXPECT_EQ(show("plain"), ":Softmax");
  EXPECT_EQ(show("old"), ":Softmax"); // as onnx-mlir names old versions
  EXPECT_EQ(show("short"), ":V11");   // nothing would be left
  EXPECT_EQ(show("other"), "tosa:conv2d");
  EXPECT_EQ(show("foreign"), "com.microsoft:FastGelu");
  EXPECT_EQ(show("local"), ":f");
  EXPECT_TRUE(isForeign(find("foreign")));
  EXPECT_FALSE(isForeign(find("local")));
  EXPECT_FALSE(isForeign(find("other")));
}

TEST_F(Nodes, Names) {
  parse(R"(
    func.func @main(%x: i32 {onnx.name = "x"}, %y: i32) {
      %a:3 = "t.split"() {is = "split", onnx_node_name = "/split", onnx_output_names = ["first", ""]} : () -> (i32, i32, i32)
      "t.loop"() ({
      ^bb0(%inner: i32):
        "t.yield"() : () -> ()
      }) {is = "loop"} : () -> ()
      func.return
    })");
  Operation *split = find("split");
  EXPECT_EQ(getNodeName(split), "/split");
  EXPECT_EQ(getNodeName(find("loop")), "");
  EXPECT_EQ(getValueName(split->getResult(0)), "first");
  EXPECT_EQ(getValueName(split->getResult(1)), "");
  EXPECT_EQ(getValueName(split->getResult(2)), ""); // no name for this one
  EXPECT_TRUE(isCalled(split, "/split"));
  EXPECT_TRUE(isCalled(split, "first"));
  EXPECT_FALSE(isCalled(split, "second"));
  Block &body = module->lookupSymbol<func::FuncOp>("main").front();
  EXPECT_EQ(getValueName(body.getArgument(0)), "x");
  EXPECT_EQ(getValueName(body.getArgument(1)), "");
  EXPECT_EQ(getValueName(find("loop")->getRegion(0).getArgument(0)), "");
}

TEST_F(Nodes, Metadata) {
  parse(R"(
    func.func @main() {
      "t.op"() {is = "noted", onnx.metadata_props = [["a", "1"], ["b", "2"], ["a", "3"], ["c", 4], "d", [5, "6"]]} : () -> ()
      "t.op"() {is = "odd", onnx.metadata_props = "text"} : () -> ()
      func.return
    })");
  Operation *noted = find("noted");
  EXPECT_EQ(getMetadata(noted, "b"), "2");
  EXPECT_EQ(getMetadata(noted, "a"), "1"); // the first one counts
  EXPECT_FALSE(getMetadata(noted, "c"));
  EXPECT_FALSE(getMetadata(noted, "z"));
  EXPECT_FALSE(getMetadata(find("odd"), "a"));
  std::string keys;
  forEachMetadata(noted->getAttr(kMetadataAttr),
                  [&](StringRef key, StringAttr value) {
                    keys += key.str() + (value ? "" : "!") + " ";
                  });
  EXPECT_EQ(keys, "a b a c! ");
}

/// Whoever reads a copy of a parameter reads the parameter.
TEST_F(Nodes, ReadersBehindCopies) {
  parse(R"(
    func.func @main() {
      %w = "t.constant"() {is = "shared"} : () -> i32
      %t = "t.Transpose"(%w) {htp.tag = #htp.tag<"">} : (i32) -> i32
      %u = "t.Cast"(%t) {htp.tag = #htp.tag<"">} : (i32) -> i32
      "t.MatMul"(%u) {htp.tag = #htp.tag<"b">} : (i32) -> ()
      "t.MatMul"(%w) {htp.tag = #htp.tag<"a">} : (i32) -> ()
      "t.MatMul"(%w) {htp.tag = #htp.tag<"a">} : (i32) -> ()
      "t.MatMul"(%w) : (i32) -> ()
      %v = "t.constant"() {is = "copied"} : () -> i32
      %i = "t.Identity"(%v) {htp.tag = #htp.tag<"c">} : (i32) -> i32
      %n = "t.constant"() {is = "unread"} : () -> i32
      func.return
    })");
  auto readers = [&](StringRef name) {
    return llvm::join(taggedReaders(find(name)->getResult(0)), " ");
  };
  EXPECT_EQ(readers("shared"), "a b");
  EXPECT_EQ(readers("copied"), "c"); // there is nobody but the copy
  EXPECT_EQ(readers("unread"), "");
}

TEST_F(Nodes, ArgumentsAreEditedTogether) {
  parse("func.func private @f(i32 {t.a = 1 : i32}, i32, i32 {t.b})");
  auto function = module->lookupSymbol<func::FuncOp>("f");
  ArgumentAttrs attrs(function);
  attrs[0].erase("t.a");
  attrs[1].set("t.c", UnitAttr::get(&context));
  EXPECT_TRUE(function.getArgAttr(0, "t.a")); // not stored yet
  attrs.store();
  EXPECT_FALSE(function.getArgAttr(0, "t.a"));
  EXPECT_TRUE(function.getArgAttr(1, "t.c"));
  EXPECT_TRUE(function.getArgAttr(2, "t.b"));
}

/// However MLIR stores a tensor, its bytes are those that ONNX would store.
TEST_F(Nodes, BytesOfTensors) {
  auto bytes = [&](Attribute tensor) -> std::optional<std::vector<int>> {
    SmallVector<char> storage;
    auto found = getTensorBytes(tensor, storage);
    if (!found)
      return std::nullopt;
    return std::vector<int>(found->begin(), found->end());
  };
  using Bytes = std::vector<int>;
  EXPECT_EQ(bytes(attribute("dense<[1, 2]> : tensor<2xi16>")),
            (Bytes{1, 0, 2, 0}));
  EXPECT_EQ(bytes(attribute("dense<3> : tensor<2x2xi8>")), (Bytes{3, 3, 3, 3}));
  EXPECT_EQ(bytes(attribute("dense<[true, false, true]> : tensor<3xi1>")),
            (Bytes{1, 0, 1}));
  EXPECT_EQ(bytes(attribute("dense<true> : tensor<3xi1>")), (Bytes{1, 1, 1}));
  EXPECT_EQ(bytes(attribute("dense<> : tensor<0xi32>")), Bytes());
  EXPECT_EQ(bytes(attribute("dense<[\"a\"]> : tensor<1x!t.text>")),
            std::nullopt);
  EXPECT_EQ(bytes(attribute("sparse<[[0]], [1]> : tensor<2xi32>")),
            std::nullopt);
  EXPECT_EQ(bytes(attribute("\"text\"")), std::nullopt);
  // Weights that were left out when the text was printed.
  parse(R"(
    func.func @main() attributes {
      there = dense_resource<blob> : tensor<4xi8>,
      gone = dense_resource<none> : tensor<4xi8>} { func.return }
    {-#
      dialect_resources: { builtin: { blob: "0x0100000001020304" } }
    #-})");
  Operation *main = &*module->getBodyRegion().op_begin();
  EXPECT_EQ(bytes(main->getAttr("there")), (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(bytes(main->getAttr("gone")), std::nullopt);
}
