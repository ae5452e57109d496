// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps a model file, takes large raw data and the metadata of nodes out as
// spans, and parses the rest.

#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/ONNX/Wire.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <climits>
#include <google/protobuf/io/zero_copy_stream.h>

using namespace llvm;
using namespace htp;

/// Replaces the large `raw_data` of one tensor by `standIn` and reports its
/// bytes. If the field occurs twice, the last one counts, as in protobuf.
static ArrayRef<char> takeRawData(StringRef tensor, wire::Rope &rope,
                                  uint64_t standIn) {
  constexpr unsigned kRawData = ::onnx::TensorProto::kRawDataFieldNumber;
  auto isRawData = [](const wire::Field &field) {
    return field.number == kRawData && field.type == wire::Length;
  };
  StringRef rest = tensor, bytes;
  while (std::optional<wire::Field> field = wire::readField(rest))
    if (isRawData(*field))
      bytes = field->payload;
  if (!rest.empty() || bytes.size() < kMinSpan)
    return {};

  rest = tensor;
  while (std::optional<wire::Field> field = wire::readField(rest)) {
    if (!isRawData(*field))
      rope.append(field->whole);
    else if (field->payload.begin() == bytes.begin())
      rope.appendField(kSpanField, wire::Varint, standIn);
  }
  return ArrayRef<char>(bytes.begin(), bytes.end());
}

namespace {
/// Parses a message in pieces without joining all of them. Small pieces are
/// joined, as each stream has some overhead in protobuf.
class RopeStream : public google::protobuf::io::ZeroCopyInputStream {
public:
  explicit RopeStream(const wire::Rope &rope) : pieces(rope.pieces()) {}

  bool Next(const void **data, int *size) override {
    if (current.empty() && !fill())
      return false;
    // Streams count in int.
    StringRef part = current.take_front(INT_MAX);
    current = current.drop_front(part.size());
    read += part.size();
    *data = part.data();
    *size = static_cast<int>(part.size());
    return true;
  }
  void BackUp(int count) override {
    current = StringRef(current.data() - count, current.size() + count);
    read -= count;
  }
  bool Skip(int count) override {
    const void *data;
    int size = 0;
    for (; count > 0 && Next(&data, &size); count -= size)
      ;
    if (count < 0)
      BackUp(-count);
    return count <= 0;
  }
  int64_t ByteCount() const override { return read; }

private:
  /// Smaller pieces are joined to about this many bytes.
  static constexpr size_t kSmall = 4096, kJoined = 1 << 16;

  bool fill() {
    if (pieces.empty())
      return false;
    if (pieces.front().size() >= kSmall) {
      current = pieces.consume_front();
      return true;
    }
    joined.clear();
    while (!pieces.empty() && pieces.front().size() < kSmall &&
           joined.size() < kJoined)
      joined += pieces.consume_front();
    current = joined;
    return !current.empty() || fill();
  }

  ArrayRef<StringRef> pieces;
  StringRef current;
  SmallString<0> joined;
  int64_t read = 0;
};
} // namespace

static bool parseRope(::onnx::ModelProto &model, const wire::Rope &rope) {
  RopeStream stream(rope);
  return model.ParseFromZeroCopyStream(&stream);
}

static google::protobuf::ArenaOptions inBlocks() {
  google::protobuf::ArenaOptions options;
  options.max_block_size = 1 << 20;
  return options;
}

ModelFile::ModelFile() : messages(inBlocks()) {}

Expected<std::shared_ptr<ModelFile>> ModelFile::open(StringRef path) {
  auto mapping = FileMapping::open(path);
  if (!mapping)
    return createStringError("cannot read '" + path +
                             "': " + toString(mapping.takeError()));
  std::shared_ptr<ModelFile> file(new ModelFile);
  file->filePath = path.str();
  file->folder = sys::path::parent_path(path).str();
  file->mapping = std::move(*mapping);
  StringRef bytes = file->mapping->bytes();
  return parse(std::move(file), bytes);
}

Expected<std::shared_ptr<ModelFile>>
ModelFile::fromBuffer(std::unique_ptr<MemoryBuffer> buffer, StringRef path) {
  std::shared_ptr<ModelFile> file(new ModelFile);
  file->filePath = path.str();
  file->folder = sys::path::parent_path(path).str();
  file->buffer = std::move(buffer);
  StringRef bytes = file->buffer->getBuffer();
  return parse(std::move(file), bytes);
}

Expected<std::shared_ptr<ModelFile>>
ModelFile::parse(std::shared_ptr<ModelFile> file, StringRef bytes) {
  auto refuse = [&](const Twine &why) {
    return createStringError("'" + file->filePath +
                             "' is not an ONNX model: " + why);
  };
  // The address in memory differs from run to run.
  file->firstSpan = reinterpret_cast<uintptr_t>(bytes.data()) << 16;
  auto takeTensor = [&](StringRef tensor, wire::Rope &rope) {
    uint64_t standIn = file->firstSpan + file->spans.size();
    ArrayRef<char> data = takeRawData(tensor, rope, standIn);
    if (!data.empty())
      file->spans.push_back(data);
    return !data.empty();
  };
  auto takeNotes = [&](StringRef notes, wire::Rope &rope) {
    rope.appendField(kSpanField, wire::Varint,
                     file->firstSpan + file->spans.size());
    file->spans.push_back(ArrayRef<char>(notes.begin(), notes.end()));
  };
  auto rope = wire::rewrite(bytes, kMinSpan, takeTensor, takeNotes);
  file->proto = google::protobuf::Arena::CreateMessage<::onnx::ModelProto>(
      &file->messages);
  if (!rope || !parseRope(*file->proto, *rope)) {
    std::string fault = wire::diagnose(bytes);
    return refuse(fault.empty() ? "protobuf cannot parse it" : fault);
  }
  if (!file->proto->has_graph())
    return refuse("it has no graph");
  return file;
}

void ModelFile::dropModel() {
  proto = nullptr;
  messages.Reset();
}

bool ModelFile::isStandIn(const google::protobuf::UnknownField &field) const {
  return field.number() == kSpanField &&
         field.type() == google::protobuf::UnknownField::TYPE_VARINT &&
         field.varint() - firstSpan < spans.size();
}

std::optional<size_t>
ModelFile::span(const google::protobuf::UnknownFieldSet &unknown) const {
  for (int i = 0, e = unknown.field_count(); i != e; ++i)
    if (isStandIn(unknown.field(i)))
      return unknown.field(i).varint() - firstSpan;
  return std::nullopt;
}

bool ModelFile::isSpan(const ::onnx::TensorProto &tensor) const {
  return span(tensor.unknown_fields()).has_value();
}

std::optional<StringRef> ModelFile::notes(const ::onnx::NodeProto &node) const {
  std::optional<size_t> index = span(node.unknown_fields());
  if (!index)
    return std::nullopt;
  return StringRef(spans[*index].data(), spans[*index].size());
}

bool ModelFile::hasRawData(const ::onnx::TensorProto &tensor) const {
  return tensor.has_raw_data() || isSpan(tensor);
}

ArrayRef<char> ModelFile::rawData(const ::onnx::TensorProto &tensor) const {
  if (std::optional<size_t> index = span(tensor.unknown_fields()))
    return spans[*index];
  return ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
}
