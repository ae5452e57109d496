// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a PyTorch archive (a zip file) from mapped memory with LibTorch's own
// reader. Tensors are never copied: their storages point into the mapping.

#ifndef HTP_TOOLS_TRACE_ARCHIVE_H
#define HTP_TOOLS_TRACE_ARCHIVE_H

#include "Trace.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ATen/core/Tensor.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/storage_context.h>

#include <memory>
#include <string>
#include <unordered_map>

namespace htp::trace {

/// The error for files written by torch.save: what they are, and what to do
/// instead.
inline constexpr const char *savedMessage =
    "this file was written by torch.save and holds a state_dict or another "
    "pickled object, not a traced module; save torch.jit.trace(model, inputs) "
    "with its save(), or torch.export.export(model, inputs) with "
    "torch.export.save()";

/// LibTorch's message without its C++ stack and its advice to report a bug.
std::string shortMessage(llvm::StringRef message);

class Archive {
public:
  /// The limit on the total size of uncompressed records. PyTorch does not
  /// compress records, and a small malicious file could expand to any size.
  static constexpr uint64_t kMaxUnpacked = uint64_t(1) << 30;

  /// Throws ArchiveError if `path` is not a PyTorch zip file.
  explicit Archive(const std::string &path,
                   uint64_t maxUnpacked = kMaxUnpacked);

  caffe2::serialize::PyTorchStreamReader &reader() { return *streamReader; }
  bool has(const std::string &record) {
    return streamReader->hasRecord(record);
  }

  /// The bytes of a record: inside the mapping, unless it is compressed.
  llvm::StringRef bytes(const std::string &record);

  /// The same as a storage for tensors; nothing if the record is missing.
  std::optional<c10::Storage> storage(const std::string &record);

  /// The same for every record in `folder`, by name, in the form that
  /// LibTorch's unpickler expects.
  std::shared_ptr<torch::jit::DeserializationStorageContext>
  storages(const std::string &folder);

  /// Tells the kernel that `data` was read and will not be needed again, so
  /// that a large model does not stay in memory while it is being hashed.
  void release(llvm::ArrayRef<char> data);

  /// Whether to compute sketches of parameters in addition to fingerprints.
  bool sketches = true;

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::shared_ptr<caffe2::serialize::PyTorchStreamReader> streamReader;
  /// Uncompressed copies of compressed records.
  std::unordered_map<std::string, at::DataPtr> copies;
  uint64_t unpacked = 0, maxUnpacked;
};

/// Describes a parameter, with fingerprints of its contents if `hash` is set
/// and there are any: an expanded tensor is only a stand-in for a shape.
Parameter describeParameter(const std::string &name, const char *kind,
                            const at::Tensor &tensor, bool hash,
                            Archive &archive);

/// torch's name of a type without "torch.", such as "float32".
std::string dtypeName(c10::ScalarType type);

/// The address of a tensor's contents, to detect tied parameters; null for a
/// tensor without contents.
const void *contentsOf(const at::Tensor &tensor);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_ARCHIVE_H
