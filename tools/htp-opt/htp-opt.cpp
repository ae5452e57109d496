// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-opt: MLIR's optimizer driver with the ONNX and HTP dialects, for ONNX
// files as well as MLIR.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/DAG.h"
#include "HTP/Target/GraphML.h"
#include "HTP/Target/ONNX/Tags.h"
#include "HTP/Target/OpMetadata.h"
#include "HTP/Target/Summary.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Transforms/ModelLoader.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "llvm/Support/CommandLine.h"

/// One call for each format that can be written beside the model.
static void registerSideOutputs() {
  enum class Modules { Own, All };
  static llvm::cl::opt<Modules> modules(
      "dag-modules",
      llvm::cl::desc("The modules that --dag-json has entries for"),
      llvm::cl::values(
          clEnumValN(Modules::Own, "own",
                     "those that torch.nn does not define"),
          clEnumValN(Modules::All, "all",
                     "all, under tags with the classes of torch.nn")),
      llvm::cl::init(Modules::Own), llvm::cl::cat(htp::optionCategory()));
  htp::registerSideOutput(
      {"dag-json", "Write the operations and edges of every module",
       [](mlir::ModuleOp module, llvm::raw_ostream &os) {
         return htp::writeDAG(module, os, {modules == Modules::All});
       }});
  htp::registerSideOutput(
      {"op-metadata",
       "Write the module tree and what is known of every operation, as JSON",
       htp::writeOpMetadata});
  htp::registerSideOutput({"graphml",
                           "Write a graph with one nested graph a module",
                           htp::writeGraphML});
  htp::registerSideOutput(
      {"summary", "Write modules, coverage, evidence and confidence as tables",
       htp::writeSummary});
}

/// Tags leave the program as metadata of the model.
static void registerTagOutput() {
  static llvm::cl::opt<htp::TagStorage> storage(
      "tag-storage", llvm::cl::desc("Where an ONNX file has its tags"),
      llvm::cl::values(
          clEnumValN(htp::TagStorage::Metadata, "metadata",
                     "metadata_props of the nodes"),
          clEnumValN(htp::TagStorage::Attribute, "attribute",
                     "attributes of the nodes, which checkers reject")),
      llvm::cl::init(htp::TagStorage::Metadata),
      llvm::cl::cat(htp::optionCategory()));
  htp::registerExportStep([](mlir::ModuleOp module) {
    if (storage == htp::TagStorage::Attribute)
      module.emitWarning("tags are written as node attributes, which "
                         "onnx.checker and ONNX Runtime reject");
    htp::embedTags(module, {storage, htp::keepsTorchNN(module)});
    return mlir::success();
  });
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
  htp::registerHTPTransformsPasses();
  htp::registerHTPPipelines();
  htp::setModelLoader(htp::readModel);
  registerSideOutputs();
  registerTagOutput();
  return htp::optMain(argc, argv, registry);
}
