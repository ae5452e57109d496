// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects file formats from contents and from file names.

#include "HTP/Tools/HtpOpt/Format.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace htp;

/// How much of a file is inspected. Every protobuf message has a control
/// character long before this.
static constexpr size_t kSample = 64 * 1024;

static bool isText(StringRef sample, bool whole) {
  auto isControl = [](unsigned char c) {
    return (c < 0x20 && !(c >= '\t' && c <= '\r')) || c == 0x7f;
  };
  if (any_of(sample, isControl))
    return false;
  // The sample may end in the middle of a character, so drop its last bytes.
  if (!whole)
    while (!sample.empty() && (sample.back() & 0x80))
      sample = sample.drop_back();
  const auto *begin = reinterpret_cast<const UTF8 *>(sample.begin());
  const auto *end = reinterpret_cast<const UTF8 *>(sample.end());
  return isLegalUTF8String(&begin, end);
}

Format htp::formatOfContent(MemoryBufferRef content) {
  if (mlir::isBytecode(content))
    return Format::Bytecode;
  StringRef bytes = content.getBuffer();
  return isText(bytes.take_front(kSample), bytes.size() <= kSample)
             ? Format::Text
             : Format::ONNX;
}

Format htp::formatOfName(StringRef path) {
  return StringSwitch<Format>(sys::path::extension(path))
      .Case(".onnx", Format::ONNX)
      .Case(".mlirbc", Format::Bytecode)
      .Default(Format::Text);
}
