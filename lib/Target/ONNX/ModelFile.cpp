// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/ONNX/ModelFile.h"

#include "llvm/Support/Path.h"

using namespace llvm;
using namespace htp;

std::optional<size_t> htp::getSpanIndex(const ::onnx::TensorProto &tensor) {
  const auto &unknown = tensor.unknown_fields();
  for (int i = 0, e = unknown.field_count(); i != e; ++i)
    if (unknown.field(i).number() == kSpanField &&
        unknown.field(i).type() == google::protobuf::UnknownField::TYPE_VARINT)
      return unknown.field(i).varint();
  return std::nullopt;
}

Expected<std::shared_ptr<ModelFile>> ModelFile::open(StringRef path) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(),
                             "cannot open '" + path +
                                 "': " + buffer.getError().message());
  return fromBuffer(std::move(*buffer), path);
}

Expected<std::shared_ptr<ModelFile>>
ModelFile::fromBuffer(std::unique_ptr<MemoryBuffer> buffer, StringRef path) {
  std::shared_ptr<ModelFile> file(new ModelFile);
  file->filePath = path.str();
  file->folder = sys::path::parent_path(path).str();
  file->proto = std::make_unique<::onnx::ModelProto>();
  if (!file->proto->ParseFromArray(buffer->getBufferStart(),
                                   buffer->getBufferSize()))
    return createStringError("'" + path +
                             "' is not an ONNX model: malformed protobuf");
  file->buffer = std::move(buffer);
  return file;
}

bool ModelFile::isSpan(const ::onnx::TensorProto &tensor) const {
  return getSpanIndex(tensor).has_value();
}

bool ModelFile::hasRawData(const ::onnx::TensorProto &tensor) const {
  return tensor.has_raw_data() || isSpan(tensor);
}

ArrayRef<char> ModelFile::rawData(const ::onnx::TensorProto &tensor) const {
  if (auto index = getSpanIndex(tensor))
    return spans[*index];
  return ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
}
