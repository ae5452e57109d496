// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor data in files beside a model.
//
// The name of such a file comes from the model, and a model may come from
// anyone: it must not make a tool read a file elsewhere. Files are looked up in
// the model's folder only, mapped when someone asks for bytes, and never read
// before that.

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

/// Which bytes of which file a tensor is made of.
struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  /// Without it the data has the size that the tensor's type needs.
  std::optional<uint64_t> length;

  /// From the values of the keys `location`, `offset` and `length` of ONNX,
  /// empty where absent.
  static llvm::Expected<ExternalRange> parse(llvm::StringRef location,
                                             llvm::StringRef offset,
                                             llvm::StringRef length);
};

/// The data files of one model. Can be used from several threads. Errors name
/// the data file; the caller adds the tensor.
class ExternalData {
public:
  /// `folder` is the model's; empty means the current one. Where `model` is
  /// itself a link, data files may be links into the folder that it leads to:
  /// so caches lay files out that several revisions of a model share. Whoever
  /// could put the model there could put the data there, too.
  explicit ExternalData(llvm::StringRef folder, llvm::StringRef model = {});

  llvm::StringRef folder() const { return directory; }

  /// The real path of a data file. Fails where the location is absolute, leaves
  /// the folders by `..` or through a symbolic link, or is not a regular file.
  llvm::Expected<std::string> resolve(llvm::StringRef location);

  /// Checks that the file has the range and that the range has `size` bytes,
  /// where the size is known. Does not open the file.
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
  std::string modelDirectory; ///< where the model really is, if elsewhere
  std::mutex mutex;
  llvm::StringMap<File> files;
};

} // namespace htp

#endif // HTP_SUPPORT_EXTERNALDATA_H
