// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler that compiles a model one module at a time: import ONNX, tag,
// outline, and run a pass of its own on each function.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace {
/// The consumer's own pass: here it only counts what it is given.
struct CountOps : PassWrapper<CountOps, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountOps)
  void runOnOperation() override {
    size_t calls = 0, ops = 0;
    getOperation().walk(
        [&](Operation *op) { isa<func::CallOp>(op) ? ++calls : ++ops; });
    llvm::outs() << "@" << getOperation().getSymName() << ": " << ops
                 << " ops, " << calls << " calls\n";
  }
};
} // namespace

int main(int argc, char **argv) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<htp::HTPDialect, htp::onnx::ONNXDialect,
                      func::FuncDialect>();
  auto file = htp::ModelFile::open(argv[1]);
  if (!file)
    return llvm::errs() << toString(file.takeError()) << "\n", 1;
  OwningOpRef<ModuleOp> module = htp::importModel(*file, &context, {});
  PassManager passes(&context);
  htp::buildTagPipeline(passes, htp::TagPipelineOptions());
  passes.addPass(htp::createHTPOutline());
  passes.addNestedPass<func::FuncOp>(std::make_unique<CountOps>());
  return !module || failed(passes.run(*module));
}
