// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Serializes a model with its large tensors spliced in, copying from mapped
// files inside the kernel.

#include "HTP/Target/ONNX/ModelWriter.h"
#include "HTP/Support/FileMapping.h"
#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/ONNX/Wire.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <climits>
#include <sys/uio.h>
#include <unistd.h>

using namespace llvm;
using namespace htp;

void ModelWriter::setRawData(::onnx::TensorProto &tensor,
                             ArrayRef<char> bytes) {
  // If called twice for a tensor, the last data counts, as with any setter.
  tensor.mutable_unknown_fields()->DeleteByNumber(kSpanField);
  if (bytes.size() < kMinSpan) {
    tensor.set_raw_data(bytes.data(), bytes.size());
    return;
  }
  tensor.clear_raw_data();
  tensor.mutable_unknown_fields()->AddVarint(kSpanField, spans.size());
  spans.push_back(bytes);
}

/// Inserts the bytes of a span where protobuf would have written them, in the
/// order of field numbers, so that the output is the same as without spans.
static bool spliceRawData(StringRef tensor, wire::Rope &rope,
                          ArrayRef<ArrayRef<char>> spans) {
  constexpr unsigned kRawData = ::onnx::TensorProto::kRawDataFieldNumber;
  auto isSpan = [&](const wire::Field &field) {
    return field.number == kSpanField && field.type == wire::Varint &&
           field.varint < spans.size();
  };
  std::optional<size_t> index;
  StringRef rest = tensor;
  while (std::optional<wire::Field> field = wire::readField(rest))
    if (isSpan(*field))
      index = field->varint;
  if (!index)
    return false;

  rest = tensor;
  bool written = false;
  while (std::optional<wire::Field> field = wire::readField(rest)) {
    if (field->number > kRawData && !written) {
      ArrayRef<char> bytes = spans[*index];
      rope.appendField(kRawData, wire::Length, bytes.size());
      rope.append(StringRef(bytes.data(), bytes.size()));
      written = true;
    }
    if (!isSpan(*field))
      rope.append(field->whole);
  }
  return true;
}

namespace {

/// Writes pieces in order. Pieces of mapped files are copied inside the kernel;
/// the others are gathered into few system calls.
class PieceWriter {
public:
  explicit PieceWriter(int fd) : fd(fd) {}
  bool write(StringRef piece);
  bool flush();

private:
  /// Below this size, a separate system call costs more than the copy.
  static constexpr size_t kMinCopy = 1 << 16;
  bool copyInKernel(StringRef &piece);

  int fd;
  bool kernelCopies = true;
  SmallVector<iovec, 64> pending;
};

} // namespace

bool PieceWriter::write(StringRef piece) {
  if (piece.size() >= kMinCopy && kernelCopies) {
    if (!flush() || !copyInKernel(piece))
      return false;
    if (piece.empty())
      return true;
  }
  pending.push_back({const_cast<char *>(piece.data()), piece.size()});
  return pending.size() < IOV_MAX || flush();
}

/// Lets the kernel copy as much of the piece as it can, and drops that from the
/// piece. It is not an error if it cannot (pipes, other file systems).
bool PieceWriter::copyInKernel(StringRef &piece) {
  std::optional<FileMapping::Origin> origin = FileMapping::find(piece);
  if (!origin)
    return true;
  auto offset = static_cast<off_t>(origin->offset);
  while (!piece.empty()) {
    ssize_t count =
        copy_file_range(origin->fd, &offset, fd, nullptr, piece.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
      return false;
    if (count <= 0) {
      kernelCopies = false;
      return true;
    }
    piece = piece.drop_front(count);
  }
  return true;
}

bool PieceWriter::flush() {
  MutableArrayRef<iovec> rest = pending;
  while (!rest.empty()) {
    ssize_t count = writev(fd, rest.data(), static_cast<int>(rest.size()));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    size_t done = count;
    while (!rest.empty() && done >= rest.front().iov_len) {
      done -= rest.front().iov_len;
      rest = rest.drop_front();
    }
    if (done != 0) {
      rest.front().iov_base = static_cast<char *>(rest.front().iov_base) + done;
      rest.front().iov_len -= done;
    }
  }
  pending.clear();
  return true;
}

static Error tooLarge(uint64_t size) {
  return createStringError("the model would have " + Twine(size) +
                           " bytes, a protobuf file can have " +
                           Twine(INT_MAX) + ": keep tensors as external data");
}

/// Streams a model without spans, never holding all of its bytes in memory.
static Error writeWhole(const ::onnx::ModelProto &model, int fd) {
  constexpr int kBlock = 1 << 18;
  if (uint64_t size = model.ByteSizeLong(); size > INT_MAX)
    return tooLarge(size);
  google::protobuf::io::FileOutputStream stream(fd, kBlock);
  if (model.SerializeToZeroCopyStream(&stream) && stream.Flush())
    return Error::success();
  return stream.GetErrno()
             ? createStringError(sys::StrError(stream.GetErrno()))
             : createStringError("protobuf cannot serialize the model");
}

Error ModelWriter::write(const ::onnx::ModelProto &model, int fd) {
  if (spans.empty())
    return writeWhole(model, fd);
  std::string skeleton;
  if (!model.SerializeToString(&skeleton))
    return createStringError("protobuf cannot serialize the model");
  auto rope = wire::rewrite(skeleton, /*minimum=*/0,
                            [&](StringRef tensor, wire::Rope &rope) {
                              return spliceRawData(tensor, rope, spans);
                            });
  if (!rope)
    return createStringError("the model is nested too deeply to be read again");
  if (rope->size() > INT_MAX)
    return tooLarge(rope->size());
  PieceWriter writer(fd);
  for (StringRef piece : rope->pieces())
    if (!writer.write(piece))
      return createStringError(sys::StrError());
  if (!writer.flush())
    return createStringError(sys::StrError());
  return Error::success();
}
