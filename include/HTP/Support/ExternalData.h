// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to tensor data in files next to a model.
//
// The file names come from the model, which may be untrusted: it must not be
// able to make a tool read files elsewhere. So files are looked up only in the
// model's folder. They are mapped when bytes are requested and not read before.

#ifndef HTP_SUPPORT_EXTERNALDATA_H
#define HTP_SUPPORT_EXTERNALDATA_H

#include "HTP/Support/FileMapping.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace htp {

/// The bytes of a file that hold a tensor.
struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  /// If missing, the data has the size that the tensor's type needs.
  std::optional<uint64_t> length;

  /// From the values of ONNX's keys `location`, `offset` and `length`, empty if
  /// absent.
  static llvm::Expected<ExternalRange> parse(llvm::StringRef location,
                                             llvm::StringRef offset,
                                             llvm::StringRef length);
};

/// The data files of one model. Thread-safe. Errors name the data file; the
/// caller adds the tensor.
class ExternalData {
public:
  /// `folder` is the model's; empty means the current one. If `model` is itself
  /// a symbolic link, data files may be links into the folder it points to,
  /// which is how download caches share files between revisions of a model.
  /// That is safe: whoever put the model there could have put the data there,
  /// too.
  explicit ExternalData(llvm::StringRef folder, llvm::StringRef model = {});

  llvm::StringRef folder() const { return directory; }

  /// The real path of a data file. Fails if the location is absolute, leaves
  /// the folder through `..` or a symbolic link, or is not a regular file.
  llvm::Expected<std::string> resolve(llvm::StringRef location);

  /// Checks that the range lies within the file and that it has `size` bytes,
  /// if given. Does not open the file.
  llvm::Error check(const ExternalRange &range, std::optional<uint64_t> size);

  /// The bytes; they live as long as this object.
  llvm::Expected<llvm::ArrayRef<char>> bytes(const ExternalRange &range,
                                             std::optional<uint64_t> size);

private:
  struct File {
    std::string realPath;
    uint64_t size = 0;
    std::unique_ptr<FileMapping> mapping;
  };
  llvm::Expected<File *> find(llvm::StringRef location);

  std::string directory;
  std::string realDirectory;
  std::string modelDirectory; ///< the target's folder if the model is a link
  std::mutex mutex;
  llvm::StringMap<File> files;
};

} // namespace htp

#endif // HTP_SUPPORT_EXTERNALDATA_H
