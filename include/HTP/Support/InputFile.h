// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a file that the user named, as a whole. The path may turn out to be a
// folder, an endless device, or a pipe.

#ifndef HTP_SUPPORT_INPUTFILE_H
#define HTP_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace htp {

/// The most that is read from a pipe. A regular file is mapped and may have any
/// size.
constexpr uint64_t kMostFromPipe = uint64_t(2) << 30;

/// The contents of the file at `path`; `-` is standard input. A parser that
/// relies on a null byte after the end must ask for a `terminated` buffer.
/// Errors do not name the file; the caller adds that.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openInput(llvm::StringRef path, bool terminated = true);

} // namespace htp

#endif // HTP_SUPPORT_INPUTFILE_H
