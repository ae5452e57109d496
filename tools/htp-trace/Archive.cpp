// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads records of a mapped archive, uncompressing only where needed, and
// describes parameters.

#include "Archive.h"

#include "HTP/Support/InputFile.h"
#include "HTP/Weights/Fingerprint.h"
#include "HTP/Weights/Sketch.h"
#include "HTP/Weights/WeightReader.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Process.h"

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <caffe2/serialize/read_adapter_interface.h>

#include <sys/mman.h>

using namespace htp::trace;
using caffe2::serialize::PyTorchStreamReader;

namespace {
/// Lets LibTorch's reader read from the mapped file.
class MappedAdapter final : public caffe2::serialize::ReadAdapterInterface {
public:
  explicit MappedAdapter(llvm::StringRef data) : data(data) {}
  size_t size() const override { return data.size(); }
  size_t read(uint64_t position, void *buffer, size_t size,
              const char *) const override {
    llvm::StringRef part = data.substr(position, size);
    std::memcpy(buffer, part.data(), part.size());
    return part.size();
  }

private:
  llvm::StringRef data;
};
} // namespace

Archive::Archive(const std::string &path, uint64_t maxUnpacked)
    : maxUnpacked(maxUnpacked) {
  auto opened = openInput(path, /*terminated=*/false);
  if (!opened)
    throw ArchiveError(llvm::toString(opened.takeError()));
  buffer = std::move(*opened);
  llvm::StringRef data = buffer->getBuffer();
  // A pickle of protocol 2 or later, which torch.save wrote before PyTorch 1.6.
  if (data.starts_with("\x80"))
    throw ArchiveError(savedMessage);
  if (!data.starts_with("PK"))
    throw ArchiveError("expected a PyTorch archive (.pt or .pt2), which is a "
                       "zip file, and found something else");
  try {
    streamReader = std::make_shared<PyTorchStreamReader>(
        std::make_shared<MappedAdapter>(data));
  } catch (const c10::Error &error) {
    throw ArchiveError("expected a PyTorch archive (.pt or .pt2), found a zip "
                       "file that is damaged or of another kind: " +
                       shortMessage(error.what_without_backtrace()));
  }
}

std::string htp::trace::shortMessage(llvm::StringRef message) {
  message = message.trim().split('\n').first;
  message = message.split("  (Could this error message be improved?").first;
  message = message.split(" This is an internal miniz error.").first;
  return message.rtrim(" :").str();
}

/// The bytes of a record in the mapped file; nothing if it is compressed.
static std::optional<llvm::StringRef> storedBytes(PyTorchStreamReader &reader,
                                                  llvm::StringRef file,
                                                  const std::string &record) {
  size_t header = reader.getRecordHeaderOffset(record);
  size_t begin = reader.getRecordOffset(record);
  size_t size = reader.getRecordSize(record);
  if (header + 10 > file.size() || begin > file.size() ||
      size > file.size() - begin)
    return std::nullopt;
  // A local file header has the compression method at byte 8; 0 is none.
  if (llvm::support::endian::read16le(file.data() + header + 8) != 0)
    return std::nullopt;
  return file.substr(begin, size);
}

llvm::StringRef Archive::bytes(const std::string &record) {
  if (auto stored = storedBytes(*streamReader, buffer->getBuffer(), record))
    return *stored;
  at::DataPtr &copy = copies[record];
  size_t size = streamReader->getRecordSize(record);
  if (!copy) {
    if (size > maxUnpacked - unpacked)
      throw ArchiveError(
          "'" + record + "' takes " + std::to_string(size >> 20) +
          " MB when it is unpacked, and compressed records may take " +
          std::to_string(maxUnpacked >> 20) +
          " MB together: raise --max-unpacked, or save the archive with "
          "PyTorch, which compresses nothing");
    unpacked += size;
    copy = std::get<0>(streamReader->getRecord(record));
  }
  return {static_cast<const char *>(copy.get()), size};
}

std::optional<c10::Storage> Archive::storage(const std::string &record) {
  if (!has(record))
    return std::nullopt;
  llvm::StringRef data = bytes(record);
  // The const_cast is safe: LibTorch has no read-only storage, but nothing here
  // writes to a tensor.
  return c10::Storage(c10::Storage::use_byte_size_t(),
                      static_cast<int64_t>(data.size()),
                      at::DataPtr(const_cast<char *>(data.data()), at::kCPU),
                      /*allocator=*/nullptr, /*resizable=*/false);
}

std::shared_ptr<torch::jit::DeserializationStorageContext>
Archive::storages(const std::string &folder) {
  auto context = std::make_shared<torch::jit::DeserializationStorageContext>();
  for (const std::string &record : streamReader->getAllRecords())
    if (llvm::StringRef(record).starts_with(folder))
      context->addStorage(record.substr(folder.size()), *storage(record));
  return context;
}

void Archive::release(llvm::ArrayRef<char> data) {
  llvm::StringRef file = buffer->getBuffer();
  if (data.data() < file.begin() || data.end() > file.end() ||
      buffer->getBufferKind() != llvm::MemoryBuffer::MemoryBuffer_MMap)
    return;
  // Only whole pages, as others contain parts of neighbouring records.
  uintptr_t page = llvm::sys::Process::getPageSizeEstimate();
  uintptr_t begin =
      llvm::alignTo(reinterpret_cast<uintptr_t>(data.begin()), page);
  uintptr_t end =
      llvm::alignDown(reinterpret_cast<uintptr_t>(data.end()), page);
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

std::string htp::trace::dtypeName(c10::ScalarType type) {
  return std::string(c10::getDtypeNames(type).first);
}

const void *htp::trace::contentsOf(const at::Tensor &tensor) {
  if (!tensor.has_storage() || tensor.numel() == 0)
    return nullptr;
  return tensor.const_data_ptr();
}

/// Whether the tensor was expanded, so that several elements share memory.
static bool isExpanded(const at::Tensor &tensor) {
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.stride(dim) == 0 && tensor.size(dim) > 1)
      return true;
  return false;
}

/// The sketch of a float tensor; empty for other types, and for tensors without
/// a sketch.
static std::string sketchOf(const Parameter &parameter,
                            llvm::ArrayRef<char> bytes) {
  auto type =
      llvm::StringSwitch<std::optional<htp::StoredType>>(parameter.dtype)
          .Case("float64", htp::StoredType::Float64)
          .Case("float32", htp::StoredType::Float32)
          .Case("float16", htp::StoredType::Float16)
          .Case("bfloat16", htp::StoredType::BFloat16)
          .Default(std::nullopt);
  auto layout = htp::SketchLayout::of(parameter.shape);
  if (!type || !layout)
    return "";
  htp::StoredTensor tensor;
  tensor.bytes = bytes;
  tensor.type = *type;
  tensor.shape.assign(parameter.shape.begin(), parameter.shape.end());
  if (!tensor.isWhole())
    return "";
  auto read = [&](int64_t row, llvm::MutableArrayRef<float> values) {
    tensor.read(row * layout->columns, values);
  };
  return htp::Sketch::of(*layout, read).text();
}

Parameter htp::trace::describeParameter(const std::string &name,
                                        const char *kind,
                                        const at::Tensor &tensor, bool hash,
                                        Archive &archive) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = kind;
  parameter.shape = tensor.sizes().vec();
  parameter.dtype = dtypeName(tensor.scalar_type());
  if (!hash || !contentsOf(tensor) || isExpanded(tensor))
    return parameter;
  at::Tensor rows = tensor.contiguous();
  llvm::ArrayRef<char> bytes(static_cast<const char *>(rows.const_data_ptr()),
                             rows.nbytes());
  parameter.hash = htp::hashBytes(bytes);
  if (auto type = htp::elementTypeFromName(parameter.dtype))
    parameter.valuesHash = htp::hashValues(bytes, *type);
  if (archive.sketches)
    parameter.sketch = sketchOf(parameter, bytes);
  archive.release(bytes);
  return parameter;
}
