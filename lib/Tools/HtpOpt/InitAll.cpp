// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers everything that HTP offers with htp-opt: dialects, passes, side
// outputs and final steps.

#include "HTP/Tools/HtpOpt/InitAll.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/Transforms/Passes.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/DAG.h"
#include "HTP/Target/Figures.h"
#include "HTP/Target/GraphML.h"
#include "HTP/Target/OpMetadata.h"
#include "HTP/Target/Page.h"
#include "HTP/Target/Summary.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Transforms/ModelLoader.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"

/// Writes the page for a copy of the module with inferred sizes, as a report
/// must not change the module.
static mlir::LogicalResult writeReport(mlir::ModuleOp module,
                                       llvm::StringRef file,
                                       llvm::raw_ostream &os) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager passes(module.getContext());
  passes.addPass(htp::createONNXInferShapes());
  if (failed(passes.run(*copy)))
    return mlir::failure();
  return htp::writePage(*copy, file, os);
}

/// Registers the formats that can be written in addition to the model.
static void registerSideOutputs() {
  enum class Modules { Own, All };
  static llvm::cl::opt<Modules> modules(
      "dag-modules", llvm::cl::desc("The modules that --dag-json writes"),
      llvm::cl::values(
          clEnumValN(Modules::Own, "own",
                     "modules that torch.nn does not define"),
          clEnumValN(Modules::All, "all",
                     "all modules; tags then include torch.nn classes")),
      llvm::cl::init(Modules::Own), llvm::cl::cat(htp::optionCategory()));
  htp::registerSideOutput(
      {"dag-json", "Write the operations and edges of every module",
       [](mlir::ModuleOp module, llvm::raw_ostream &os) {
         return htp::writeDAG(module, os, {modules == Modules::All});
       }});
  htp::registerSideOutput(
      {"op-metadata",
       "Write the module tree and everything known about operations, as JSON",
       [](mlir::ModuleOp module, llvm::raw_ostream &os) {
         return htp::writeOpMetadata(module, os);
       }});
  htp::registerSideOutput(
      {"module-metadata", "Write the same without operations and initializers",
       [](mlir::ModuleOp module, llvm::raw_ostream &os) {
         return htp::writeOpMetadata(module, os, htp::OpMetadataParts::Modules);
       }});
  htp::registerSideOutput(
      {"module-figures",
       "Write the module tree with the costs of every module, as JSON",
       [](mlir::ModuleOp module, llvm::raw_ostream &os) {
         return htp::writeOpMetadata(module, os, htp::OpMetadataParts::Figures);
       }});
  htp::registerSideOutput(
      {"op-figures", "Write the costs of every module and operation, as JSON",
       htp::writeFigures});
  htp::registerSideOutput(
      {"graphml", "Write a GraphML graph with one nested graph per module",
       htp::writeGraphML});
  htp::registerSideOutput(
      {"report", "Write an HTML page with figures, treemap and graph by module",
       nullptr, writeReport});
  htp::registerSideOutput(
      {"summary", "Write modules, coverage, evidence and confidence as tables",
       htp::writeSummary});
}

/// `--torch-nn` is `--htp-spell-tags=torch-nn=true` for whatever is written.
static void registerTagSpelling() {
  static llvm::cl::opt<bool> torchNN(
      "torch-nn",
      llvm::cl::desc("Keep the classes of torch.nn as components of tags"),
      llvm::cl::cat(htp::optionCategory()));
  htp::registerFinalStep([](mlir::ModuleOp module) {
    if (torchNN)
      module.walk([](htp::HierarchyOp op) { htp::keepTorchNN(op, true); });
    return mlir::success();
  });
}

void htp::registerAll(mlir::DialectRegistry &registry) {
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
  htp::registerHTPTransformsPasses();
  htp::registerHTPONNXTransformsPasses();
  htp::registerHTPPipelines();
  htp::setModelLoader(htp::readModel);
  registerSideOutputs();
  registerTagSpelling();
}
