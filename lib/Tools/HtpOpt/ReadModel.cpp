// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a second model (a reference) next to the one that htp-opt works on.

#include "HTP/Support/InputFile.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/TagMetadata.h"
#include "HTP/Tools/HtpOpt/Format.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace htp;

OwningOpRef<mlir::ModuleOp> htp::readModel(StringRef path,
                                           MLIRContext *context) {
  Location here = UnknownLoc::get(context);
  auto buffer = openInput(path, /*terminated=*/false);
  if (!buffer) {
    emitError(here) << "cannot read '" << path
                    << "': " << llvm::toString(buffer.takeError());
    return {};
  }
  if (formatOfContent(**buffer) != Format::ONNX)
    return parseSourceFile<mlir::ModuleOp>(path, context);
  auto file = ModelFile::open(path);
  if (!file) {
    emitError(here) << llvm::toString(file.takeError());
    return {};
  }
  ImportOptions options;
  std::unique_ptr<MetadataSink> tags = readTags(context);
  options.metadata = tags.get();
  return importModel(*file, context, options);
}
