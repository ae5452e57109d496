// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output files of one run atomically: all of them or none.

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

/// One output file. Until it is committed, its bytes are in a temporary file in
/// the same folder, so that other programs see the old file or the new one, but
/// never a partial one. Standard output and devices are written directly.
class OutputFile {
public:
  ~OutputFile();
  llvm::raw_fd_ostream &os() { return *stream; }
  /// For writers that bypass the stream, which must have no buffered output.
  int descriptor();
  llvm::StringRef path() const { return target; }
  /// Whether it is a file in a folder, unlike standard output or a device.
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
  /// Opens a file for writing ("-" is standard output). Fails early if the path
  /// could not be written on commit, and if it is already open.
  llvm::Expected<OutputFile *> open(llvm::StringRef path);

  /// Adds a copy of another file: a copy-on-write clone if the file system
  /// supports it, and sparse files stay sparse. With `hardLink`, adds a hard
  /// link if the file system supports it. An existing file with the same
  /// contents is left alone; a different one is an error.
  llvm::Error addCopy(llvm::StringRef source, llvm::StringRef target,
                      bool hardLink);

  /// Fails if an output would replace the file at `path`, however the two paths
  /// are spelled. `what` describes that file in the error: "the trace".
  llvm::Error refuse(llvm::StringRef path, const llvm::Twine &what) const;

  /// Renames every temporary file to its final name. Files that are never
  /// committed are removed.
  llvm::Error commit();

private:
  llvm::Error addLink(llvm::StringRef source, llvm::StringRef target,
                      bool &linked);
  bool isTarget(llvm::StringRef path) const;

  std::vector<std::unique_ptr<OutputFile>> files;
  /// Sources of the files that addCopy added, by target.
  llvm::StringMap<std::string> copies;
};

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_OUTPUTFILES_H
