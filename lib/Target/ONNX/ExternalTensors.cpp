// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks all tensors of a model with protobuf's reflection, and checks or
// inlines their external data.

#include "HTP/Target/ONNX/ExternalTensors.h"

#include "HTP/Target/ONNX/Wire.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace htp;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using ::onnx::TensorProto;

namespace {

/// Visits the tensors nested in a message. Which fields can contain one is
/// derived from the descriptors, once per message type. Only reads, so that it
/// can run beside others that read.
class Walker {
public:
  using Visit = function_ref<Error(const TensorProto &)>;
  explicit Walker(Visit visit) : visit(visit) {}
  Error walk(const Message &message);

private:
  const SmallVector<const FieldDescriptor *> &
  fieldsOf(const Descriptor *descriptor);

  Visit visit;
  DenseMap<const Descriptor *, SmallVector<const FieldDescriptor *>> fields;
};

} // namespace

const SmallVector<const FieldDescriptor *> &
Walker::fieldsOf(const Descriptor *descriptor) {
  auto [entry, inserted] = fields.try_emplace(descriptor);
  if (inserted)
    for (int i = 0, e = descriptor->field_count(); i != e; ++i) {
      const Descriptor *type = descriptor->field(i)->message_type();
      if (type && wire::reachesTensor(type))
        entry->second.push_back(descriptor->field(i));
    }
  return entry->second;
}

Error Walker::walk(const Message &message) {
  if (message.GetDescriptor() == TensorProto::descriptor()) {
    auto &tensor = static_cast<const TensorProto &>(message);
    if (tensor.data_location() == TensorProto::EXTERNAL)
      return visit(tensor);
    return Error::success();
  }
  const Reflection *reflection = message.GetReflection();
  // A copy: recursion may grow the map that holds the list.
  SmallVector<const FieldDescriptor *> list = fieldsOf(message.GetDescriptor());
  for (const FieldDescriptor *field : list) {
    if (!field->is_repeated()) {
      if (reflection->HasField(message, field))
        if (Error error = walk(reflection->GetMessage(message, field)))
          return error;
      continue;
    }
    for (int i = 0, e = reflection->FieldSize(message, field); i != e; ++i)
      if (Error error = walk(reflection->GetRepeatedMessage(message, field, i)))
        return error;
  }
  return Error::success();
}

Error htp::forEachExternalTensor(
    const ::onnx::ModelProto &model,
    function_ref<Error(const TensorProto &)> visit) {
  return Walker(visit).walk(model);
}

/// The value of one of the keys that ONNX defines; the last one counts.
static StringRef lookup(const TensorProto &tensor, StringRef key) {
  StringRef value;
  for (const auto &entry : tensor.external_data())
    if (entry.key() == key)
      value = entry.value();
  return value;
}

static Expected<ExternalRange> rangeOf(const TensorProto &tensor) {
  return ExternalRange::parse(lookup(tensor, "location"),
                              lookup(tensor, "offset"),
                              lookup(tensor, "length"));
}

/// Bits per element; nothing for strings and for unknown (newer) types.
static std::optional<unsigned> elementBits(int32_t type) {
  switch (type) {
  case TensorProto::UINT2:
  case TensorProto::INT2:
    return 2;
  case TensorProto::UINT4:
  case TensorProto::INT4:
  case TensorProto::FLOAT4E2M1:
    return 4;
  case TensorProto::BOOL:
  case TensorProto::UINT8:
  case TensorProto::INT8:
  case TensorProto::FLOAT8E4M3FN:
  case TensorProto::FLOAT8E4M3FNUZ:
  case TensorProto::FLOAT8E5M2:
  case TensorProto::FLOAT8E5M2FNUZ:
  case TensorProto::FLOAT8E8M0:
    return 8;
  case TensorProto::UINT16:
  case TensorProto::INT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 16;
  case TensorProto::FLOAT:
  case TensorProto::UINT32:
  case TensorProto::INT32:
    return 32;
  case TensorProto::DOUBLE:
  case TensorProto::UINT64:
  case TensorProto::INT64:
  case TensorProto::COMPLEX64:
    return 64;
  case TensorProto::COMPLEX128:
    return 128;
  default:
    return std::nullopt;
  }
}

/// The number of bytes that the tensor's type needs; nothing if the type does
/// not determine it or it overflows, which the importer reports.
static std::optional<uint64_t> sizeOf(const TensorProto &tensor) {
  std::optional<unsigned> bits = elementBits(tensor.data_type());
  if (!bits)
    return std::nullopt;
  uint64_t total = *bits;
  bool overflow = false;
  for (int64_t dim : tensor.dims()) {
    total = SaturatingMultiply<uint64_t>(total, dim, &overflow);
    if (dim < 0 || overflow)
      return std::nullopt;
  }
  return divideCeil(total, 8);
}

static Error inTensor(const TensorProto &tensor, Error error) {
  return createStringError("tensor '" + tensor.name() +
                           "': " + toString(std::move(error)));
}

Expected<std::set<std::string>>
htp::checkExternalData(const ::onnx::ModelProto &model, ExternalData &data) {
  std::set<std::string> locations;
  auto check = [&](const TensorProto &tensor) -> Error {
    Expected<ExternalRange> range = rangeOf(tensor);
    if (!range)
      return inTensor(tensor, range.takeError());
    if (Error error = data.check(*range, sizeOf(tensor)))
      return inTensor(tensor, std::move(error));
    locations.insert(range->location);
    return Error::success();
  };
  if (Error error = forEachExternalTensor(model, check))
    return std::move(error);
  return locations;
}

std::set<std::string> htp::externalLocations(const ::onnx::ModelProto &model) {
  std::set<std::string> locations;
  auto add = [&](const TensorProto &tensor) -> Error {
    locations.insert(lookup(tensor, "location").str());
    return Error::success();
  };
  cantFail(forEachExternalTensor(model, add));
  return locations;
}

Error htp::inlineExternalData(::onnx::ModelProto &model, ExternalData &data,
                              ModelWriter &writer) {
  return forEachExternalTensor(model, [&](const TensorProto &found) -> Error {
    // It is part of `model`.
    auto &tensor = const_cast<TensorProto &>(found);
    Expected<ExternalRange> range = rangeOf(tensor);
    if (!range)
      return inTensor(tensor, range.takeError());
    Expected<ArrayRef<char>> bytes = data.bytes(*range, sizeOf(tensor));
    if (!bytes)
      return inTensor(tensor, bytes.takeError());
    writer.setRawData(tensor, *bytes);
    tensor.clear_external_data();
    tensor.clear_data_location();
    return Error::success();
  });
}
