// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PyTorch archive (a zip file) over mapped memory, read through LibTorch's
// own reader. Tensors are never copied: their storages point into the mapping.

#ifndef HTP_TOOLS_TRACE_ARCHIVE_H
#define HTP_TOOLS_TRACE_ARCHIVE_H

#include "Trace.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ATen/core/Tensor.h>
#include <caffe2/serialize/inline_container.h>

#include <memory>
#include <string>
#include <unordered_map>

namespace htp::trace {

class Archive {
public:
  /// Throws ArchiveError where `path` is no zip file of PyTorch's.
  explicit Archive(const std::string &path);

  caffe2::serialize::PyTorchStreamReader &reader() { return *streamReader; }
  bool has(const std::string &record) {
    return streamReader->hasRecord(record);
  }

  /// The bytes of a record, in the mapping where they are stored as they are.
  llvm::StringRef bytes(const std::string &record);

  /// The same as the storage of tensors. None where the record is missing.
  std::optional<c10::Storage> storage(const std::string &record);

  /// Tells the kernel that `data` was read and will not be needed again, so
  /// that a large model does not stay in memory while it is being hashed.
  void release(llvm::ArrayRef<char> data);

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::shared_ptr<caffe2::serialize::PyTorchStreamReader> streamReader;
  /// Records that are compressed and had to be copied.
  std::unordered_map<std::string, at::DataPtr> copies;
};

/// A parameter with the fingerprints of its contents, if `hash` is set and
/// there are contents: a tensor that was expanded from fewer elements only
/// stands for a shape.
Parameter describeParameter(const std::string &name, const char *kind,
                            const at::Tensor &tensor, bool hash,
                            Archive &archive);

/// torch's name of a type, without "torch.".
std::string dtypeName(c10::ScalarType type);

/// Where the contents of a tensor lie, to tell which parameters are tied.
/// Null for a tensor without contents.
const void *contentsOf(const at::Tensor &tensor);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_ARCHIVE_H
