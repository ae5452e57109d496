// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that a user names, read as a whole: a path may lead to a folder, to a
// device that never ends, or to a pipe that somebody else fills.

#ifndef HTP_SUPPORT_INPUTFILE_H
#define HTP_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace htp {

/// What a pipe may give. A regular file is mapped, and may be of any size.
constexpr uint64_t kMostFromPipe = uint64_t(2) << 30;

/// The contents of the file at `path`; `-` is standard input. Where a reader
/// looks for a null byte after the end, it asks for one that is `terminated`.
/// The error says what is wrong, and does not name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openInput(llvm::StringRef path, bool terminated = true);

} // namespace htp

#endif // HTP_SUPPORT_INPUTFILE_H
