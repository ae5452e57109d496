// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree in the IR: round trips, the analysis, and types of
// parameters.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace htp;

static const char *const kTree = R"({"version": 1, "modules": [
  {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
  {"path": "0.fc", "class": "Linear", "qualified": "torch.nn.modules.linear.Linear",
   "torch_nn": true, "calls": 3, "aliases": ["head"],
   "parameters": [
     {"name": "weight", "kind": "parameter", "shape": [4, 2], "dtype": "float32",
      "hash": "fedcba9876543210", "values_hash": "0000000000000001", "tied": "0.emb.weight"},
     {"name": "scale", "kind": "buffer", "shape": [], "dtype": "bfloat16"}]},
  {"path": "0.emb", "class": "Embedding", "qualified": "torch.nn.modules.sparse.Embedding",
   "torch_nn": true, "calls": 0, "parameters": []},
  {"path": "0", "class": "Block", "qualified": "demo.Block", "torch_nn": false, "calls": 1, "parameters": []}
]})";

static std::string text(const ModuleTree &tree) { return treeToJSON(tree); }

TEST(Hierarchy, ATreeSurvivesTheIR) {
  ModuleTree tree = llvm::cantFail(treeFromJSON(kTree));
  mlir::MLIRContext context;
  context.loadDialect<HTPDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  HierarchyOp op = toIR(tree, *module);
  ASSERT_TRUE(succeeded(mlir::verify(*module)));
  // In the IR parents come first, and a second round trip changes nothing.
  ModuleTree back = fromIR(op);
  EXPECT_EQ(back.size(), tree.size());
  for (const Module &node : tree.all()) {
    const Module &same = back[*back.find(node.path)];
    EXPECT_EQ(same.qualified, node.qualified) << node.path;
    EXPECT_EQ(same.className, node.className) << node.path;
    EXPECT_EQ(same.calls, node.calls) << node.path;
    EXPECT_EQ(same.torchNN, node.torchNN) << node.path;
    EXPECT_EQ(same.parameters, node.parameters) << node.path;
  }
  EXPECT_EQ(text(fromIR(toIR(back, *module))), text(back));
  EXPECT_EQ(llvm::range_size(module->getOps<HierarchyOp>()), 1u);
}

TEST(Hierarchy, EveryPathIsFoundInAnyOrder) {
  mlir::MLIRContext context;
  context.loadDialect<HTPDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  toIR(llvm::cantFail(treeFromJSON(kTree)), *module);
  HierarchyAnalysis hierarchy(*module);
  auto find = [&](llvm::StringRef path) {
    return hierarchy.paths().find(mlir::StringAttr::get(&context, path));
  };
  for (ModuleId first : hierarchy.tree().ids())
    for (ModuleId second : hierarchy.tree().ids()) {
      EXPECT_EQ(hierarchy.paths()[first].getValue(),
                hierarchy.tree()[first].path);
      EXPECT_EQ(find(hierarchy.tree()[first].path), first);
      EXPECT_EQ(find("nowhere"), std::nullopt);
      EXPECT_EQ(find(hierarchy.tree()[second].path), second);
    }
}

TEST(Hierarchy, WhatWasWrittenNeedNotBeReadBack) {
  mlir::MLIRContext context;
  context.loadDialect<HTPDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  HierarchyAnalysis read(*module), assumed(*module);
  auto tree =
      std::make_shared<const ModuleTree>(llvm::cantFail(treeFromJSON(kTree)));
  toIR(*tree, *module);
  assumed.assume(tree, PathAttrs(*tree, &context));
  EXPECT_EQ(&assumed.tree(), tree.get());
  // The IR is read on first use, so this sees the changed IR.
  EXPECT_EQ(read.tree().size(), tree->size());
  for (ModuleId id : tree->ids())
    EXPECT_EQ(read.tree()[*read.paths().find(assumed.paths()[id])].path,
              (*tree)[id].path);
}

TEST(Hierarchy, JSONThereAndBack) {
  ModuleTree tree = llvm::cantFail(treeFromJSON(kTree));
  EXPECT_EQ(text(llvm::cantFail(treeFromJSON(text(tree)))), text(tree));
}

TEST(Hierarchy, JSONErrorsNameThePlace) {
  auto errorOf = [](llvm::StringRef json) {
    llvm::Expected<ModuleTree> tree = treeFromJSON(json);
    return tree ? "" : llvm::toString(tree.takeError());
  };
  EXPECT_EQ(errorOf(R"({"modules": [{"path": ""}]})"),
            "missing, expected string at hierarchy.modules[0].class");
  EXPECT_EQ(
      errorOf(
          R"({"modules": [{"path": "a", "class": "A", "qualified": "", "calls": 0, "torch_nn": false, "parameters": []}]})"),
      "not a tree at hierarchy.modules: the first module must be the "
      "root, whose path is empty");
}

TEST(Hierarchy, EveryDtypeComesBack) {
  mlir::MLIRContext context;
  context.loadDialect<HTPDialect>();
  // The last one has no counterpart in MLIR.
  for (const char *dtype :
       {"float32", "float16", "bfloat16", "float64", "int64", "int32", "int16",
        "int8", "uint8", "bool", "complex64", "float8_e4m3fn", "qint8"}) {
    Parameter parameter;
    parameter.dtype = dtype;
    auto type = mlir::cast<mlir::RankedTensorType>(typeOf(parameter, &context));
    EXPECT_EQ(dtypeOf(type.getElementType()), dtype);
  }
  EXPECT_TRUE(mlir::isa<mlir::NoneType>(typeOf(Parameter(), &context)));
}
