// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes at all: reading them as a model must end in an error or in a
// module, and a module must become the same model again.

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Target/ONNX/Export.h"
#include "HTP/Target/ONNX/ExternalTensors.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/ONNX/ModelFile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

/// A context never frees what it has made unique: a new one now and then.
static MLIRContext &freshContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 500 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<htp::onnx::ONNXDialect>();
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }
  return *context;
}

static std::string write(htp::ModelWriter &writer,
                         const ::onnx::ModelProto &model) {
  int fd = memfd_create("model", MFD_CLOEXEC);
  std::string bytes;
  if (!llvm::errorToBool(writer.write(model, fd))) {
    off_t size = lseek(fd, 0, SEEK_END);
    bytes.resize(size);
    if (pread(fd, bytes.data(), size, 0) != size)
      bytes.clear();
  }
  close(fd);
  return bytes;
}

static void requireEqual(const std::string &input, const std::string &output) {
  ::onnx::ModelProto before, after;
  if (!before.ParseFromString(input) || !after.ParseFromString(output))
    std::abort();
  if (before.SerializeAsString() == after.SerializeAsString())
    return;
  std::fputs("the model did not come back equal\n", stderr);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string input(reinterpret_cast<const char *>(data), size);
  auto file = htp::ModelFile::fromBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(input), "fuzz.onnx");
  if (!file) {
    llvm::consumeError(file.takeError());
    return -1; // Not worth keeping in the corpus.
  }
  htp::ExternalData beside("/nonexistent");
  if (llvm::errorToBool(htp::checkExternalData((*file)->model(), beside)))
    return 0;
  OwningOpRef<ModuleOp> module =
      htp::importModel(*file, &freshContext(), htp::ImportOptions());
  if (!module || failed(verify(*module)))
    return 0;
  ::onnx::ModelProto model;
  htp::ModelWriter writer;
  if (failed(htp::exportModel(*module, model, writer, htp::ExportOptions())))
    std::abort();
  requireEqual(input, write(writer, model));
  return 0;
}
