// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PDL patterns with module constraints, applied as another compiler would.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/ModuleSelection.h"
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

static constexpr char kModel[] = R"mlir(
htp.hierarchy @Net : "demo.Net" {
  htp.module @attention : "demo.Attention"
  htp.module @mlp : "demo.MLP"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "t.slow"(%x) {htp.tag = #htp.tag<"attention">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "t.slow"(%0) {htp.tag = #htp.tag<"mlp">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "t.slow"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "attention"}>["n"])
  return %2 : tensor<4xf32>
}
)mlir";

// What mlir-pdll generates for `HTPInModuleOfClass(root,
// attr<"\"Attention\"">)`.
static constexpr char kPattern[] = R"mlir(
pdl.pattern : benefit(1) {
  %x = operand
  %type = type
  %op = operation "t.slow"(%x : !pdl.value) -> (%type : !pdl.type)
  %name = attribute = "Attention"
  apply_native_constraint "HTPInModuleOfClass"(%op, %name : !pdl.operation, !pdl.attribute)
  rewrite %op {
    %fast = operation "t.fast"(%x : !pdl.value) -> (%type : !pdl.type)
    replace %op with %fast
  }
}
)mlir";

namespace {
struct ModuleConstraints : testing::Test {
  ModuleConstraints() {
    context.allowUnregisteredDialects();
    context.loadDialect<HTPDialect, func::FuncDialect, pdl::PDLDialect,
                        pdl_interp::PDLInterpDialect>();
    model = parseSourceString<mlir::ModuleOp>(kModel, &context);
  }

  size_t count(StringRef name) {
    size_t found = 0;
    model->walk(
        [&](Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<mlir::ModuleOp> model;
};
} // namespace

TEST_F(ModuleConstraints, APatternAppliesToOneClassOnly) {
  PDLPatternModule pattern(
      parseSourceString<mlir::ModuleOp>(kPattern, &context));
  registerModuleConstraints(pattern);
  RewritePatternSet patterns(&context);
  patterns.add(std::move(pattern));
  ASSERT_TRUE(succeeded(applyPatternsGreedily(*model, std::move(patterns))));
  EXPECT_EQ(count("t.fast"), 2u);
  EXPECT_EQ(count("t.slow"), 1u);
}

TEST_F(ModuleConstraints, ATreeThatChangedIsReadAgain) {
  ModuleSelections selections;
  auto contains = [&](StringRef path) {
    auto selection = selections.get(findHierarchy(*model), {{}, "Attention"});
    return selection ? (*selection)->contains(path)
                     : (llvm::consumeError(selection.takeError()), false);
  };
  EXPECT_TRUE(contains("attention"));
  EXPECT_FALSE(contains("mlp"));
  for (auto module : findHierarchy(*model).getBody()->getOps<htp::ModuleOp>())
    module.setQualified(module.getPath() == "mlp" ? "demo.Attention"
                                                  : "demo.Other");
  EXPECT_FALSE(contains("attention"));
  EXPECT_TRUE(contains("mlp"));
  toIR(ModuleTree(), *model);
  EXPECT_FALSE(contains("mlp"));
}
