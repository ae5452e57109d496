// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Model.h"

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Target/ONNX/Export.h"
#include "HTP/Target/ONNX/ExternalTensors.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/TagMetadata.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

void fuzz::require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

static std::unique_ptr<MLIRContext> context;

void fuzz::beginInput() {
  static unsigned inputs = 0;
  if (inputs++ % 500 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<htp::HTPDialect, htp::onnx::ONNXDialect,
                         func::FuncDialect>();
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }
}

OwningOpRef<ModuleOp> fuzz::readModel(StringRef bytes, Tags tags) {
  auto file = htp::ModelFile::fromBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(bytes), "fuzz.onnx");
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  htp::ExternalData beside("/nonexistent");
  auto locations = htp::checkExternalData((*file)->model(), beside);
  if (llvm::errorToBool(locations.takeError()))
    return {};
  htp::ImportOptions options;
  std::unique_ptr<htp::MetadataSink> sink;
  if (tags == Tags::Read) {
    sink = htp::readTags(context.get());
    options.metadata = sink.get();
  }
  return htp::importModel(*file, context.get(), options);
}

std::optional<std::string> fuzz::writeModel(ModuleOp module) {
  ::onnx::ModelProto model;
  htp::ModelWriter writer;
  std::unique_ptr<htp::MetadataSource> tags = htp::writeTags(module);
  if (failed(htp::exportModel(module, model, writer, {tags.get()})))
    return std::nullopt;
  int fd = memfd_create("model", MFD_CLOEXEC);
  std::optional<std::string> bytes;
  if (!llvm::errorToBool(writer.write(model, fd))) {
    bytes.emplace(lseek(fd, 0, SEEK_END), '\0');
    if (pread(fd, bytes->data(), bytes->size(), 0) != ssize_t(bytes->size()))
      bytes.reset();
  }
  close(fd);
  return bytes;
}

bool fuzz::isSameModel(StringRef one, StringRef other) {
  if (one == other)
    return true;
  ::onnx::ModelProto a, b;
  require(a.ParseFromArray(one.data(), one.size()) &&
              b.ParseFromArray(other.data(), other.size()),
          "what was written is no model");
  return a.SerializeAsString() == b.SerializeAsString();
}
