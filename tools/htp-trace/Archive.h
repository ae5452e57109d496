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
#include <torch/csrc/jit/serialization/storage_context.h>

#include <memory>
#include <string>
#include <unordered_map>

namespace htp::trace {

/// About a file that torch.save wrote: what it is, and what to do instead.
inline constexpr const char *savedMessage =
    "this file was written by torch.save and holds a state_dict or another "
    "pickled object, not a traced module; save torch.jit.trace(model, inputs) "
    "with its save(), or torch.export.export(model, inputs) with "
    "torch.export.save()";

/// LibTorch's message without its C++ stack and its advice to report a bug.
std::string shortMessage(llvm::StringRef message);

class Archive {
public:
  /// What compressed records may take in memory together. PyTorch compresses
  /// none; a small file could promise any amount.
  static constexpr uint64_t kMaxUnpacked = uint64_t(1) << 30;

  /// Throws ArchiveError where `path` is no zip file of PyTorch's.
  explicit Archive(const std::string &path,
                   uint64_t maxUnpacked = kMaxUnpacked);

  caffe2::serialize::PyTorchStreamReader &reader() { return *streamReader; }
  bool has(const std::string &record) {
    return streamReader->hasRecord(record);
  }

  /// The bytes of a record, in the mapping where they are stored as they are.
  llvm::StringRef bytes(const std::string &record);

  /// The same as the storage of tensors. None where the record is missing.
  std::optional<c10::Storage> storage(const std::string &record);

  /// The same for every record in `folder`, by its name there, in the form in
  /// which LibTorch's unpickler asks for storages.
  std::shared_ptr<torch::jit::DeserializationStorageContext>
  storages(const std::string &folder);

  /// Tells the kernel that `data` was read and will not be needed again, so
  /// that a large model does not stay in memory while it is being hashed.
  void release(llvm::ArrayRef<char> data);

  /// Whether parameters are to have sketches beside their fingerprints.
  bool sketches = true;

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::shared_ptr<caffe2::serialize::PyTorchStreamReader> streamReader;
  /// Records that are compressed and had to be copied.
  std::unordered_map<std::string, at::DataPtr> copies;
  uint64_t unpacked = 0, maxUnpacked;
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
