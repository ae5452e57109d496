// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call numbers of nested modules, and reading tags and dataflow of a block.

#include "Outlining/ModuleCalls.h"

#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {

struct Entry {
  const char *path;
  int64_t calls = 1;
};

ModuleTree makeTree(ArrayRef<Entry> entries) {
  std::vector<htp::Module> modules(1);
  for (Entry entry : entries) {
    htp::Module &module = modules.emplace_back();
    module.path = entry.path;
    module.calls = entry.calls;
  }
  return llvm::cantFail(ModuleTree::create(std::move(modules)));
}

ModuleId at(const ModuleTree &tree, StringRef path) {
  std::optional<ModuleId> found = tree.find(path);
  EXPECT_TRUE(found) << path.str();
  return found.value_or(0);
}

class TaggedBlocks : public testing::Test {
protected:
  TaggedBlocks() {
    context.loadDialect<HTPDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  FailureOr<TaggedBlock> read(StringRef lines, const ModuleTree &tree) {
    std::string text = "func.func @f(%x: i32) {\n";
    text += lines;
    text += "\n return\n}";
    module = parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "not MLIR";
      return failure();
    }
    auto function = *module->getOps<func::FuncOp>().begin();
    return TaggedBlock::read(function.front(), tree);
  }
  /// The error of `read`.
  std::string errorOf(StringRef lines, const ModuleTree &tree) {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(read(lines, tree)));
    return error;
  }

  MLIRContext context;
  OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TEST(CallNumbers, TheCallsOfAModuleBelongToThoseAboveIt) {
  // A layer that runs twice and each time calls its activation twice.
  ModuleTree tree = makeTree({{"layer", 2}, {"layer.act", 4}});
  ModuleId layer = at(tree, "layer"), act = at(tree, "layer.act");
  CallNumbers numbers(tree, {});
  for (int64_t call = 0; call < 4; ++call) {
    EXPECT_EQ(numbers.callOf(layer, {act, call}), call / 2);
    EXPECT_EQ(numbers.callOf(ModuleTree::root(), {act, call}), 0);
  }
  EXPECT_EQ(numbers.firstCall({layer, 0}, act), 0);
  EXPECT_EQ(numbers.firstCall({layer, 1}, act), 2);
}

TEST(CallNumbers, OpsKnowOfMoreCallsThanATreeThatWasNotTraced) {
  // The container between them has no ops that would tell how often it ran.
  ModuleTree tree =
      makeTree({{"layer"}, {"layer.container"}, {"layer.container.act"}});
  ModuleId layer = at(tree, "layer"), container = at(tree, "layer.container"),
           act = at(tree, "layer.container.act");
  CallNumbers numbers(tree, {{layer, 1}, {act, 0}, {act, 1}});
  EXPECT_EQ(numbers.callOf(container, {act, 0}), 0);
  EXPECT_EQ(numbers.callOf(container, {act, 1}), 1);
  EXPECT_EQ(numbers.callOf(layer, {container, 1}), 1);
  // If tags show only one call, it stays at one.
  CallNumbers once(tree, {{layer, 0}, {act, 1}});
  EXPECT_EQ(once.callOf(container, {act, 1}), 0);
}

TEST(CallNumbers, TheFirstCallHasNoNumberInItsName) {
  EXPECT_EQ(callName("encoder.layer.0", 0), "encoder.layer.0");
  EXPECT_EQ(callName("encoder.layer.0", 2), "encoder.layer.0:2");
}

TEST_F(TaggedBlocks, InterleavedOpsKeepTheirModuleCallsInOrder) {
  ModuleTree tree = makeTree({{"a", 2}, {"b"}});
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.p"(%x) {htp.tag = #htp.tag<"a">} : (i32) -> i32
    %1 = "d.q"(%x) {htp.tag = #htp.tag<"b">} : (i32) -> i32
    %2 = "d.r"(%0, %1) {htp.tag = #htp.tag<"a">} : (i32, i32) -> i32
    %3 = "d.p"(%2) {htp.tag = #htp.tag<"a", call = 1>} : (i32) -> i32)mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  ModuleId a = at(tree, "a"), b = at(tree, "b");
  EXPECT_EQ(block->calls,
            (std::vector<ModuleCall>{{a, 0}, {b, 0}, {a, 0}, {a, 1}}));
  EXPECT_EQ(block->ops.size(), 4u);
  EXPECT_EQ(block->graph.producers(2), (ArrayRef<unsigned>{0, 1}));
  EXPECT_EQ(block->graph.producers(3), ArrayRef<unsigned>{2});
  EXPECT_TRUE(block->graph.producers(0).empty());
}

TEST_F(TaggedBlocks, ATagBelowTheTreeIsOfTheNearestModule) {
  ModuleTree tree = makeTree({{"a"}});
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.p"(%x) {htp.tag = #htp.tag<"a.gone.x">} : (i32) -> i32
    %1 = "d.p"(%x) {htp.tag = #htp.tag<"other">} : (i32) -> i32)mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  EXPECT_EQ(block->calls, (std::vector<ModuleCall>{{at(tree, "a"), 0},
                                                   {ModuleTree::root(), 0}}));
}

TEST_F(TaggedBlocks, WithoutATagTheLocationCounts) {
  ModuleTree tree = makeTree({{"a"}, {"a.b"}, {"a.c"}});
  // The second was fused from ops of two modules.
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.p"(%x) : (i32) -> i32
      loc(fused<{htp.call = 1 : i64, htp.scope = "a.b"}>["p"])
    %1 = "d.p"(%x) : (i32) -> i32
      loc(fused[fused<{htp.call = 1 : i64, htp.scope = "a.b"}>["p"],
                fused<{htp.scope = "a.c"}>["q"]]))mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  EXPECT_EQ(block->calls, (std::vector<ModuleCall>{{at(tree, "a.b"), 1},
                                                   {at(tree, "a"), 0}}));
}

TEST_F(TaggedBlocks, WhatARegionReadsItsOpReads) {
  ModuleTree tree = makeTree({{"a"}});
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.p"(%x) {htp.tag = #htp.tag<"a">} : (i32) -> i32
    "d.if"(%x) ({
      %1 = "d.q"(%0) : (i32) -> i32
      "d.yield"(%1) : (i32) -> ()
    }) {htp.tag = #htp.tag<"a">} : (i32) -> ())mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  EXPECT_EQ(block->graph.producers(1), ArrayRef<unsigned>{0});
}

TEST_F(TaggedBlocks, ConstantsNeedNoTagAndWeightsStay) {
  ModuleTree tree = makeTree({{"a"}});
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.constant"() : () -> i32
    %1 = "d.constant"() {htp.parameter = "a.weight", onnx.initializer} : () -> i32
    %2 = "onnx.Identity"(%1) {htp.tag = #htp.tag<"a">} : (i32) -> i32
    %3 = "d.constant"() {onnx.initializer} : () -> i32
    %4 = "d.p"(%0, %2) {htp.tag = #htp.tag<"a">} : (i32, i32) -> i32)mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  OpRole expected[] = {OpRole::Constant, OpRole::Weight, OpRole::Weight,
                       OpRole::Pinned, OpRole::Op};
  for (auto [op, role] : llvm::enumerate(expected))
    EXPECT_EQ(block->graph.role(op), role) << op;
}

TEST_F(TaggedBlocks, OpsOnMemoryStayInOrder) {
  ModuleTree tree = makeTree({{"a"}, {"b"}});
  FailureOr<TaggedBlock> block = read(R"mlir(
    %0 = "d.alloc"(%x) {htp.tag = #htp.tag<"a">} : (i32) -> memref<i32>
    %1 = "d.pure"(%x) {htp.tag = #htp.tag<"b">} : (i32) -> i32
    "d.store"(%0) {htp.tag = #htp.tag<"b">} : (memref<i32>) -> ()
    "d.load"(%0) {htp.tag = #htp.tag<"a">} : (memref<i32>) -> ())mlir",
                                      tree);
  ASSERT_TRUE(succeeded(block));
  EXPECT_TRUE(block->graph.producers(1).empty());
  // The load reads what the alloc made, and comes after the store.
  EXPECT_EQ(block->graph.producers(3), (ArrayRef<unsigned>{0, 2}));
}

TEST_F(TaggedBlocks, AnUntaggedOpBetweenTaggedOnesIsAnError) {
  ModuleTree tree = makeTree({{"a"}});
  EXPECT_NE(errorOf(R"mlir(
    %0 = "d.p"(%x) {htp.tag = #htp.tag<"a">} : (i32) -> i32
    %1 = "d.q"(%x) : (i32) -> i32
    %2 = "d.q"(%x) : (i32) -> i32)mlir",
                    tree)
                .find("(2 ops have none)"),
            std::string::npos);
  EXPECT_NE(
      errorOf(R"(%0 = "d.p"(%x) : (i32) -> i32)", tree).find("no op has a tag"),
      std::string::npos);
}
