// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file formats of models that htp-opt reads and writes.

#ifndef HTP_TOOLS_HTPOPT_FORMAT_H
#define HTP_TOOLS_HTPOPT_FORMAT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace htp {

enum class Format {
  ONNX,     // a protobuf ModelProto
  Text,     // MLIR text
  Bytecode, // MLIR bytecode
  OnnxMlir, // MLIR text in the strict form of onnx-mlir; output only
  IREE,     // a folder of files for IREE; output only
};

/// Detects the format of a file from its content alone: bytecode by its magic
/// number, text by being UTF-8 without control characters. A protobuf message
/// cannot pass for text: its tags and lengths are control characters.
Format formatOfContent(llvm::MemoryBufferRef content);

/// The format that a file name's extension implies; text if none.
Format formatOfName(llvm::StringRef path);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_FORMAT_H
