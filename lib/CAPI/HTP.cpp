// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API: thin wrappers around the functions that htp-opt uses.

#include "HTP-c/HTP.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/Transforms/Passes.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/ONNX/Export.h"
#include "HTP/Target/ONNX/ExternalTensors.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/TagMetadata.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Transforms/ModelLoader.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace htp;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(HTP, htp, htp::HTPDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(ONNX, onnx, htp::onnx::ONNXDialect)

void htpRegisterAllDialects(MlirDialectRegistry registry) {
  unwrap(registry)
      ->insert<HTPDialect, htp::onnx::ONNXDialect, func::FuncDialect>();
  registerTransformDialectExtension(*unwrap(registry));
}

void htpRegisterAllPasses() {
  registerHTPTransformsPasses();
  registerHTPONNXTransformsPasses();
  registerHTPPipelines();
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

/// The importer creates ops of these dialects, which must be loaded before.
static void loadDialects(MLIRContext *context) {
  context->loadDialect<HTPDialect, htp::onnx::ONNXDialect, func::FuncDialect>();
}

MlirModule htpImportFile(MlirContext context, MlirStringRef path) {
  loadDialects(unwrap(context));
  return wrap(readModel(unwrap(path), unwrap(context)).release());
}

MlirModule htpImportBytes(MlirContext context, MlirStringRef bytes,
                          MlirStringRef path) {
  MLIRContext *to = unwrap(context);
  loadDialects(to);
  // The module refers to large tensors in the file instead of copying them.
  auto file = ModelFile::fromBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(unwrap(bytes)), unwrap(path));
  if (!file) {
    emitError(UnknownLoc::get(to)) << llvm::toString(file.takeError());
    return {nullptr};
  }
  ImportOptions options;
  std::unique_ptr<MetadataSink> tags = readTags(to);
  options.metadata = tags.get();
  return wrap(importModel(*file, to, options).release());
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Handles the null string of an option field that was left zero.
static std::string textOf(MlirStringRef text) {
  return std::string(text.data ? text.data : "", text.data ? text.length : 0);
}

static MlirLogicalResult
run(MlirModule module, llvm::function_ref<void(OpPassManager &)> addPasses) {
  mlir::ModuleOp op = unwrap(module);
  PassManager passes(op.getContext());
  addPasses(passes);
  return wrap(passes.run(op));
}

MlirLogicalResult htpTag(MlirModule module, HtpTagOptions given) {
  setModelLoader(readModel); // reads HtpTagOptions::reference
  TagPipelineOptions options;
  options.trace = textOf(given.trace);
  options.reference = textOf(given.reference);
  options.policy = textOf(given.policy);
  options.overrides = textOf(given.overrides);
  options.force = given.force;
  return run(module,
             [&](OpPassManager &passes) { buildTagPipeline(passes, options); });
}

MlirLogicalResult htpOutline(MlirModule module, HtpOutlineOptions given) {
  HTPOutlineOptions options;
  for (intptr_t i = 0; i < given.numClasses; ++i)
    options.classes.push_back(textOf(given.classes[i]));
  for (intptr_t i = 0; i < given.numModules; ++i)
    options.modules.push_back(textOf(given.modules[i]));
  options.share = !given.apart;
  return run(module, [&](OpPassManager &passes) {
    passes.addPass(createHTPOutline(options));
  });
}

MlirLogicalResult htpInline(MlirModule module) {
  return run(module,
             [](OpPassManager &passes) { passes.addPass(createHTPInline()); });
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

/// Writes to `fd`. If `path`, the final name of the file, is given, the
/// external data files must exist next to it.
static llvm::Error write(mlir::ModuleOp module, int fd,
                         std::optional<StringRef> path) {
  ::onnx::ModelProto model;
  ModelWriter writer;
  std::unique_ptr<MetadataSource> tags = writeTags(module);
  if (failed(exportModel(module, model, writer, {tags.get()})))
    return llvm::createStringError("the module cannot be written as ONNX");
  if (path)
    for (const std::string &location : externalLocations(model)) {
      llvm::SmallString<128> data(llvm::sys::path::parent_path(*path));
      llvm::sys::path::append(data, location);
      if (!llvm::sys::fs::exists(data))
        return llvm::createStringError("cannot write '" + *path +
                                       "': its data file '" + location +
                                       "' is not beside it");
    }
  return writer.write(model, fd);
}

static MlirLogicalResult report(mlir::ModuleOp module, llvm::Error error) {
  if (!error)
    return mlirLogicalResultSuccess();
  emitError(UnknownLoc::get(module.getContext()))
      << llvm::toString(std::move(error));
  return mlirLogicalResultFailure();
}

MlirLogicalResult htpExportFile(MlirModule module, MlirStringRef given) {
  mlir::ModuleOp op = unwrap(module);
  std::string path = textOf(given);
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!file)
    return report(
        op, llvm::createStringError("cannot write '" + path +
                                    "': " + llvm::toString(file.takeError())));
  if (llvm::Error error = write(op, file->FD, path))
    return report(op, llvm::joinErrors(std::move(error), file->discard()));
  return report(op, file->keep(path));
}

MlirLogicalResult htpExportBytes(MlirModule module, MlirStringCallback callback,
                                 void *userData) {
  mlir::ModuleOp op = unwrap(module);
  int fd = memfd_create("model.onnx", MFD_CLOEXEC);
  if (fd < 0)
    return report(op, llvm::errorCodeToError(llvm::errnoAsErrorCode()));
  llvm::Error error = write(op, fd, std::nullopt);
  if (!error) {
    auto bytes = llvm::MemoryBuffer::getOpenFile(
        fd, "model.onnx", /*FileSize=*/-1, /*RequiresNullTerminator=*/false);
    if (bytes)
      callback(wrap((*bytes)->getBuffer()), userData);
    else
      error = llvm::errorCodeToError(bytes.getError());
  }
  close(fd);
  return report(op, std::move(error));
}

MlirStringRef htpOperationGetModulePath(MlirOperation op) {
  TagAttr tag = getAbsoluteTag(unwrap(op));
  return tag ? wrap(tag.getPath()) : MlirStringRef{nullptr, 0};
}
