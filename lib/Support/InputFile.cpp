// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens regular files by mapping and pipes by reading, and refuses anything
// else.

#include "HTP/Support/InputFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace htp {

using Buffer = std::unique_ptr<MemoryBuffer>;

/// Reads a pipe to its end, or fails at kMostFromPipe.
static Expected<Buffer> readPipe(sys::fs::file_t pipe, StringRef path) {
  constexpr size_t kChunk = 1 << 20;
  SmallVector<char, 0> bytes;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize_for_overwrite(before + kChunk);
    Expected<size_t> count = sys::fs::readNativeFile(
        pipe, MutableArrayRef(bytes.data() + before, kChunk));
    if (!count)
      return count.takeError();
    bytes.truncate(before + *count);
    if (*count == 0)
      return MemoryBuffer::getMemBufferCopy(
          StringRef(bytes.data(), bytes.size()), path);
    if (bytes.size() > kMostFromPipe)
      return createStringError(
          "is a pipe that gives more than 2 GiB; write it to a file first, "
          "which may be of any size");
  }
}

Expected<Buffer> openInput(StringRef path, bool terminated) {
  if (path == "-")
    return readPipe(sys::fs::getStdinHandle(), "<stdin>");
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return createStringError(error.message());
  switch (status.type()) {
  case sys::fs::file_type::directory_file:
    return createStringError("is a directory, expected a file");
  case sys::fs::file_type::character_file:
  case sys::fs::file_type::block_file:
    return createStringError("is a device, expected a file");
  case sys::fs::file_type::regular_file: {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, terminated);
    if (!buffer)
      return createStringError(buffer.getError().message());
    return std::move(*buffer);
  }
  default: {
    Expected<sys::fs::file_t> pipe = sys::fs::openNativeFileForRead(path);
    if (!pipe)
      return pipe.takeError();
    scope_exit close([&] { sys::fs::closeFile(*pipe); });
    return readPipe(*pipe, path);
  }
  }
}

} // namespace htp
