// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file mapped into memory that can be found again by address, so that whoever
// writes its bytes elsewhere can leave the copying to the kernel.

#ifndef HTP_SUPPORT_FILEMAPPING_H
#define HTP_SUPPORT_FILEMAPPING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace htp {

class FileMapping {
public:
  /// Maps a regular file, read-only. The error does not name the file.
  static llvm::Expected<std::unique_ptr<FileMapping>>
  open(llvm::StringRef path);

  ~FileMapping();
  FileMapping(const FileMapping &) = delete;
  FileMapping &operator=(const FileMapping &) = delete;

  llvm::StringRef bytes() const { return contents; }

  /// Where in a file some bytes of memory come from.
  struct Origin {
    int fd;
    uint64_t offset;
  };
  /// The mapped file that all of `bytes` lie in, if they lie in one.
  static std::optional<Origin> find(llvm::StringRef bytes);

private:
  FileMapping(int fd, llvm::StringRef contents);

  int fd;
  llvm::StringRef contents;
};

/// From now on the process ends with a message, and without what it was
/// writing, where a file becomes shorter while it is read through a mapping:
/// there is no other way to go on than to crash. For `main`.
void endWhereFilesShrink();

} // namespace htp

#endif // HTP_SUPPORT_FILEMAPPING_H
