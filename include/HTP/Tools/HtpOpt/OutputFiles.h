// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that one run writes: all of them or none.

#ifndef HTP_TOOLS_HTPOPT_OUTPUTFILES_H
#define HTP_TOOLS_HTPOPT_OUTPUTFILES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// One file to be. Until it is committed its bytes are in a temporary file in
/// the same folder, so that a reader sees the old file or the new one and never
/// a part. Standard output and devices are written directly.
class OutputFile {
public:
  ~OutputFile();
  llvm::raw_fd_ostream &os() { return *stream; }
  /// For writers that go around the stream; nothing may be pending in it.
  int descriptor();
  llvm::StringRef path() const { return target; }
  /// Whether it is a file that other files can lie beside.
  bool isInFolder() const { return temporary.has_value(); }

private:
  friend class OutputFiles;
  OutputFile() = default;
  llvm::Error flush();
  llvm::Error keep();

  std::string target;
  std::optional<llvm::sys::fs::TempFile> temporary;
  /// The temporary name of a hard link.
  std::string link;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
  int fd = -1;
};

class OutputFiles {
public:
  /// Opens a file for writing ("-" is standard output). Fails where the file
  /// could not be written in the end, and for a path that is already open.
  llvm::Expected<OutputFile *> open(llvm::StringRef path);

  /// Adds a file with the contents of another: by the file system's own
  /// copy-on-write clone where it can, holes stay holes. With `hardLink` a
  /// second name for the same file, where the file system can. An existing file
  /// that is the same is left alone; one that differs is an error.
  llvm::Error addCopy(llvm::StringRef source, llvm::StringRef target,
                      bool hardLink);

  /// Fails where an output would replace the file at `path`, which is `what`:
  /// "the trace". However the two paths are spelled.
  llvm::Error refuse(llvm::StringRef path, const llvm::Twine &what) const;

  /// Gives every file its name. Files that are never committed vanish.
  llvm::Error commit();

private:
  llvm::Error addLink(llvm::StringRef source, llvm::StringRef target,
                      bool &linked);
  bool isTarget(llvm::StringRef path) const;

  std::vector<std::unique_ptr<OutputFile>> files;
  /// What addCopy has added: the sources, by targets.
  llvm::StringMap<std::string> copies;
};

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_OUTPUTFILES_H
