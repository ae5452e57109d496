// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Tools/HtpOpt/InitAll.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/Transforms/Passes.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/DAG.h"
#include "HTP/Target/GraphML.h"
#include "HTP/Target/ONNX/Tags.h"
#include "HTP/Target/OpMetadata.h"
#include "HTP/Target/Summary.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Transforms/ModelLoader.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"

/// A file beside the model that tells of its tags. They may be those of a file
/// that was tagged before: no pass is needed to read them.
static void registerTagOutput(
    llvm::StringLiteral flag, llvm::StringLiteral help,
    std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::raw_ostream &)>
        writer) {
  htp::registerSideOutput(
      {flag, help, [writer](mlir::ModuleOp module, llvm::raw_ostream &os) {
         module.getContext()->loadDialect<htp::HTPDialect>();
         return failed(htp::liftTags(module)) ? mlir::failure()
                                              : writer(module, os);
       }});
}

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
  registerTagOutput(
      "dag-json", "Write the operations and edges of every module",
      [](mlir::ModuleOp module, llvm::raw_ostream &os) {
        return htp::writeDAG(module, os, {modules == Modules::All});
      });
  registerTagOutput(
      "op-metadata",
      "Write the module tree and what is known of every operation, as JSON",
      htp::writeOpMetadata);
  registerTagOutput("graphml", "Write a graph with one nested graph a module",
                    htp::writeGraphML);
  registerTagOutput(
      "summary", "Write modules, coverage, evidence and confidence as tables",
      htp::writeSummary);
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

/// Tags become metadata of the model where it is written as ONNX.
static void registerTagEmbedding() {
  using htp::TagStorage;
  static llvm::cl::opt<TagStorage> storage(
      "tag-storage", llvm::cl::desc("Where the tags of an ONNX file are:"),
      llvm::cl::values(
          clEnumValN(TagStorage::Metadata, "metadata",
                     "in metadata_props (default)"),
          clEnumValN(TagStorage::Attribute, "attribute",
                     "in the node attributes source_module and "
                     "hierarchy_tags, which onnx.checker and ONNX Runtime "
                     "reject"),
          clEnumValN(TagStorage::None, "none",
                     "nowhere: only what is written beside the model has "
                     "them (--op-metadata)")),
      llvm::cl::init(TagStorage::Metadata),
      llvm::cl::cat(htp::optionCategory()));
  using Source = std::unique_ptr<htp::MetadataSource>;
  htp::registerExportStep([](mlir::ModuleOp module) -> llvm::FailureOr<Source> {
    if (storage != TagStorage::None)
      return htp::embedTags(module, storage);
    mlir::PassManager strip(module.getContext());
    strip.addPass(htp::createHTPStrip());
    if (failed(strip.run(module)))
      return mlir::failure();
    return Source();
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
  registerTagEmbedding();
}
