// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file mapped into memory. The mapping of an address can be looked up, so
// that code which writes mapped bytes to another file can let the kernel copy
// them.

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

  /// The place in a file that bytes in memory were mapped from.
  struct Origin {
    int fd;
    uint64_t offset;
  };
  /// Where `bytes` were mapped from, if they all lie in one mapping.
  static std::optional<Origin> find(llvm::StringRef bytes);

private:
  FileMapping(int fd, llvm::StringRef contents);

  int fd;
  llvm::StringRef contents;
};

/// Installs a handler for mapped files that are truncated by another process
/// while they are being read: instead of crashing (SIGBUS), the process removes
/// its unfinished outputs and exits with a message. To be called from `main`.
void endWhereFilesShrink();

} // namespace htp

#endif // HTP_SUPPORT_FILEMAPPING_H
