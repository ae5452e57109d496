// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/ONNX/Wire.h"

#include "llvm/Support/Path.h"

#include <climits>
#include <deque>
#include <google/protobuf/io/zero_copy_stream_impl.h>

using namespace llvm;
using namespace htp;
namespace io = google::protobuf::io;

std::optional<size_t> htp::getSpanIndex(const ::onnx::TensorProto &tensor) {
  const auto &unknown = tensor.unknown_fields();
  for (int i = 0, e = unknown.field_count(); i != e; ++i)
    if (unknown.field(i).number() == kSpanField &&
        unknown.field(i).type() == google::protobuf::UnknownField::TYPE_VARINT)
      return unknown.field(i).varint();
  return std::nullopt;
}

/// Replaces large `raw_data` of one tensor by a reference to a new span. Where
/// the field occurs twice, protobuf's rule holds: the last one counts.
static bool takeRawData(StringRef tensor, wire::Rope &rope,
                        std::vector<ArrayRef<char>> &spans) {
  constexpr unsigned kRawData = ::onnx::TensorProto::kRawDataFieldNumber;
  auto isRawData = [](const wire::Field &field) {
    return field.number == kRawData && field.type == wire::Length;
  };
  StringRef rest = tensor, bytes;
  while (std::optional<wire::Field> field = wire::readField(rest))
    if (isRawData(*field))
      bytes = field->payload;
  if (!rest.empty() || bytes.size() < kMinSpan)
    return false;

  rest = tensor;
  while (std::optional<wire::Field> field = wire::readField(rest)) {
    if (!isRawData(*field))
      rope.append(field->whole);
    else if (field->payload.begin() == bytes.begin())
      rope.appendField(kSpanField, wire::Varint, spans.size());
  }
  spans.push_back(ArrayRef<char>(bytes.begin(), bytes.end()));
  return true;
}

/// Parses a message that lies in pieces, without joining them first.
static bool parseRope(::onnx::ModelProto &model, const wire::Rope &rope) {
  std::deque<io::ArrayInputStream> streams;
  std::vector<io::ZeroCopyInputStream *> pointers;
  for (StringRef piece : rope.pieces()) {
    // Streams count in int, and so does protobuf: a graph of 2 GB without its
    // weights is beyond what it can hold.
    if (piece.size() > INT_MAX)
      return false;
    streams.emplace_back(piece.data(), static_cast<int>(piece.size()));
    pointers.push_back(&streams.back());
  }
  io::ConcatenatingInputStream whole(pointers.data(),
                                     static_cast<int>(pointers.size()));
  return model.ParseFromZeroCopyStream(&whole);
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
  auto rope = wire::rewriteTensors(
      bytes, kMinSpan, [&](StringRef tensor, wire::Rope &rope) {
        return takeRawData(tensor, rope, file->spans);
      });
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

/// The tensor's span. A file can carry a field of the same number with any
/// value: what is no span of ours is not one.
std::optional<size_t> ModelFile::span(const ::onnx::TensorProto &tensor) const {
  std::optional<size_t> index = getSpanIndex(tensor);
  return index && *index < spans.size() ? index : std::nullopt;
}

bool ModelFile::isSpan(const ::onnx::TensorProto &tensor) const {
  return span(tensor).has_value();
}

bool ModelFile::hasRawData(const ::onnx::TensorProto &tensor) const {
  return tensor.has_raw_data() || isSpan(tensor);
}

ArrayRef<char> ModelFile::rawData(const ::onnx::TensorProto &tensor) const {
  if (std::optional<size_t> index = span(tensor))
    return spans[*index];
  return ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
}
