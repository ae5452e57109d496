// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes messages as attributes by reflection, and decodes them again.

#include "ProtoAttr.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Target/ONNX/Wire.h"

#include "google/protobuf/reflection.h"
#include "google/protobuf/unknown_field_set.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace htp;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::UnknownFieldSet;
using ::onnx::NodeProto;
using ::onnx::StringStringEntryProto;
using ::onnx::TensorProto;

static constexpr StringLiteral kUnknownFields = "unknown_fields";

/// The alignment to state for a resource. Bytes in a mapped file have whatever
/// alignment the layout gives them; deriving it from the type makes the same
/// model print the same text wherever its bytes are.
static size_t alignmentOf(ShapedType type) {
  unsigned bits = htp::onnx::getElementBits(type.getElementType());
  if (isa<ComplexType>(type.getElementType()))
    bits /= 2;
  return std::max(1u, bits / 8);
}

DenseResourceElementsAttr
htp::getBorrowedResource(ShapedType type, StringRef name, ArrayRef<char> bytes,
                         std::shared_ptr<void> owner) {
  AsmResourceBlob blob(
      bytes, alignmentOf(type),
      [owner = std::move(owner)](void *, size_t, size_t) mutable {
        owner.reset();
      },
      /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

DenseResourceElementsAttr
htp::getCopiedResource(ShapedType type, StringRef name, ArrayRef<char> bytes) {
  return DenseResourceElementsAttr::get(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignmentOf(type)));
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Serializes the unknown fields, except stand-ins for spans of the file.
static std::string serializeUnknown(const Message &message,
                                    const ModelFile *file) {
  const UnknownFieldSet &all =
      message.GetReflection()->GetUnknownFields(message);
  if (all.empty())
    return "";
  UnknownFieldSet fields;
  for (int i = 0, e = all.field_count(); i != e; ++i)
    if (!file || !file->isStandIn(all.field(i)))
      fields.AddField(all.field(i));
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

DictionaryAttr ProtoEncoder::encode(const Message &message,
                                    ArrayRef<int> skip) const {
  NamedAttrList attrs;
  encodeFields(message, attrs, skip);
  return attrs.getDictionary(context);
}

/// Encodes what the file keeps as a span: raw data of tensors, metadata of
/// nodes.
void ProtoEncoder::encodeSpans(const Message &message, NamedAttrList &attrs,
                               ArrayRef<int> skip) const {
  if (auto *tensor = dynamic_cast<const TensorProto *>(&message)) {
    if (!file->isSpan(*tensor) ||
        llvm::is_contained(skip, int(TensorProto::kRawDataFieldNumber)))
      return;
    ArrayRef<char> bytes = file->rawData(*tensor);
    auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                      IntegerType::get(context, 8));
    attrs.append("raw_data",
                 getBorrowedResource(type, tensor->name(), bytes, file));
  } else if (auto *node = dynamic_cast<const NodeProto *>(&message)) {
    std::optional<StringRef> notes = file->notes(*node);
    if (!notes ||
        llvm::is_contained(skip, int(NodeProto::kMetadataPropsFieldNumber)))
      return;
    SmallVector<Attribute> entries;
    wire::forEachPair(*notes, [&](wire::Pair pair) {
      entries.push_back(
          Builder(context).getStrArrayAttr({pair.first, pair.second}));
    });
    attrs.append("metadata_props", ArrayAttr::get(context, entries));
  }
}

void ProtoEncoder::encodeFields(const Message &message, NamedAttrList &attrs,
                                ArrayRef<int> skip) const {
  std::vector<const FieldDescriptor *> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields)
    if (!llvm::is_contained(skip, field->number()))
      attrs.append(field->name(), field->is_repeated()
                                      ? encodeRepeated(message, field)
                                      : encodeValue(message, field, -1));
  if (file)
    encodeSpans(message, attrs, skip);
  if (std::string unknown = serializeUnknown(message, file.get());
      !unknown.empty())
    attrs.append(kUnknownFields, StringAttr::get(context, unknown));
}

void ProtoEncoder::encodeField(const Message &message, NamedAttrList &attrs,
                               int number) const {
  const FieldDescriptor *field =
      message.GetDescriptor()->FindFieldByNumber(number);
  assert(field && field->is_repeated() && "lists are what comes alone");
  if (message.GetReflection()->FieldSize(message, field) > 0)
    attrs.append(field->name(), encodeRepeated(message, field));
}

Attribute ProtoEncoder::encodeMessage(const Message &message) const {
  if (auto *entry = dynamic_cast<const StringStringEntryProto *>(&message))
    if (entry->has_key() && entry->has_value() &&
        entry->unknown_fields().empty())
      return Builder(context).getStrArrayAttr({entry->key(), entry->value()});
  return encode(message);
}

template <typename T, typename ElementT>
static Attribute encodeNumbers(const Message &message,
                               const FieldDescriptor *field,
                               MLIRContext *context) {
  const auto &values =
      message.GetReflection()->GetRepeatedFieldRef<T>(message, field);
  std::vector<ElementT> elements(values.begin(), values.end());
  return mlir::detail::DenseArrayAttrImpl<ElementT>::get(context, elements);
}

Attribute ProtoEncoder::encodeRepeated(const Message &message,
                                       const FieldDescriptor *field) const {
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return encodeNumbers<int32_t, int32_t>(message, field, context);
  case FieldDescriptor::CPPTYPE_INT64:
    return encodeNumbers<int64_t, int64_t>(message, field, context);
  case FieldDescriptor::CPPTYPE_UINT64:
    return encodeNumbers<uint64_t, int64_t>(message, field, context);
  case FieldDescriptor::CPPTYPE_FLOAT:
    return encodeNumbers<float, float>(message, field, context);
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return encodeNumbers<double, double>(message, field, context);
  default:
    break;
  }
  SmallVector<Attribute> elements;
  int size = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < size; ++i)
    elements.push_back(encodeValue(message, field, i));
  return ArrayAttr::get(context, elements);
}

/// Encodes one value; `index` is -1 for a field that is not repeated.
Attribute ProtoEncoder::encodeValue(const Message &message,
                                    const FieldDescriptor *field,
                                    int index) const {
  const auto *reflection = message.GetReflection();
  Builder builder(context);
  Type si64 = builder.getIntegerType(64, /*isSigned=*/true);
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return builder.getIntegerAttr(si64, reflection->GetInt32(message, field));
  case FieldDescriptor::CPPTYPE_INT64:
    return builder.getIntegerAttr(si64, reflection->GetInt64(message, field));
  case FieldDescriptor::CPPTYPE_ENUM:
    return builder.getIntegerAttr(si64,
                                  reflection->GetEnumValue(message, field));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return FloatAttr::get(builder.getF32Type(),
                          APFloat(reflection->GetFloat(message, field)));
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string scratch;
    return builder.getStringAttr(
        index < 0 ? reflection->GetStringReference(message, field, &scratch)
                  : reflection->GetRepeatedStringReference(message, field,
                                                           index, &scratch));
  }
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return encodeMessage(
        index < 0 ? reflection->GetMessage(message, field)
                  : reflection->GetRepeatedMessage(message, field, index));
  default:
    llvm_unreachable("a field type that onnx.proto does not use");
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

LogicalResult ProtoDecoder::mismatch(const FieldDescriptor *field,
                                     Attribute attr) const {
  return emitError() << "has '" << field->name() << "' = " << attr
                     << ", expected " << field->type_name()
                     << (field->is_repeated() ? " values" : "");
}

LogicalResult ProtoDecoder::decode(ArrayRef<NamedAttribute> attrs,
                                   Message &message,
                                   ArrayRef<StringRef> ignore) const {
  for (NamedAttribute attr : attrs) {
    StringRef name = attr.getName();
    if (llvm::is_contained(ignore, name))
      continue;
    if (name == kUnknownFields) {
      auto bytes = dyn_cast<StringAttr>(attr.getValue());
      auto *fields = message.GetReflection()->MutableUnknownFields(&message);
      if (!bytes || !fields->ParseFromString(bytes.str()))
        return emitError() << "has unreadable '" << kUnknownFields << "'";
      continue;
    }
    const FieldDescriptor *field =
        message.GetDescriptor()->FindFieldByName(name.str());
    if (!field)
      return emitError() << "has '" << name << "', which is no field of "
                         << message.GetDescriptor()->name();
    if (failed(decodeField(attr.getValue(), field, message)))
      return failure();
  }
  return success();
}

LogicalResult ProtoDecoder::decodeField(Attribute attr,
                                        const FieldDescriptor *field,
                                        Message &message) const {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    auto *tensor = dynamic_cast<TensorProto *>(&message);
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!tensor || field->number() != TensorProto::kRawDataFieldNumber || !blob)
      return mismatch(field, attr);
    writer.setRawData(*tensor, blob->getData());
    return success();
  }
  return field->is_repeated() ? decodeRepeated(attr, field, message)
                              : decodeValue(attr, field, false, message);
}

template <typename T, typename ElementT>
static LogicalResult decodeNumbers(Attribute attr, const FieldDescriptor *field,
                                   Message &message) {
  auto array = dyn_cast<mlir::detail::DenseArrayAttrImpl<ElementT>>(attr);
  if (!array)
    return failure();
  auto values =
      message.GetReflection()->GetMutableRepeatedFieldRef<T>(&message, field);
  for (auto element : array.asArrayRef())
    values.Add(static_cast<T>(element));
  return success();
}

LogicalResult ProtoDecoder::decodeRepeated(Attribute attr,
                                           const FieldDescriptor *field,
                                           Message &message) const {
  auto check = [&](LogicalResult result) {
    return succeeded(result) ? result : mismatch(field, attr);
  };
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return check(decodeNumbers<int32_t, int32_t>(attr, field, message));
  case FieldDescriptor::CPPTYPE_INT64:
    return check(decodeNumbers<int64_t, int64_t>(attr, field, message));
  case FieldDescriptor::CPPTYPE_UINT64:
    return check(decodeNumbers<uint64_t, int64_t>(attr, field, message));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return check(decodeNumbers<float, float>(attr, field, message));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return check(decodeNumbers<double, double>(attr, field, message));
  default:
    break;
  }
  auto elements = dyn_cast<ArrayAttr>(attr);
  if (!elements)
    return mismatch(field, attr);
  for (Attribute element : elements)
    if (failed(decodeValue(element, field, true, message)))
      return failure();
  return success();
}

LogicalResult ProtoDecoder::decodeMessage(Attribute attr,
                                          Message &message) const {
  if (auto dict = dyn_cast<DictionaryAttr>(attr))
    return decode(dict.getValue(), message);
  auto *entry = dynamic_cast<StringStringEntryProto *>(&message);
  auto pair = dyn_cast<ArrayAttr>(attr);
  if (!entry || !pair || pair.size() != 2 || !isa<StringAttr>(pair[0]) ||
      !isa<StringAttr>(pair[1]))
    return emitError() << "has " << attr << ", expected "
                       << message.GetDescriptor()->name();
  entry->set_key(cast<StringAttr>(pair[0]).str());
  entry->set_value(cast<StringAttr>(pair[1]).str());
  return success();
}

LogicalResult ProtoDecoder::decodeValue(Attribute attr,
                                        const FieldDescriptor *field,
                                        bool repeated, Message &message) const {
  const auto *reflection = message.GetReflection();
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return decodeMessage(
        attr, repeated ? *reflection->AddMessage(&message, field)
                       : *reflection->MutableMessage(&message, field));
  case FieldDescriptor::CPPTYPE_STRING:
    if (auto string = dyn_cast<StringAttr>(attr)) {
      if (repeated)
        reflection->AddString(&message, field, string.str());
      else
        reflection->SetString(&message, field, string.str());
      return success();
    }
    return mismatch(field, attr);
  case FieldDescriptor::CPPTYPE_FLOAT:
    if (auto number = dyn_cast<FloatAttr>(attr);
        number && number.getType().isF32()) {
      reflection->SetFloat(&message, field, number.getValue().convertToFloat());
      return success();
    }
    return mismatch(field, attr);
  default:
    break;
  }
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return mismatch(field, attr);
  int64_t value = integer.getValue().getSExtValue();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64)
    reflection->SetInt64(&message, field, value);
  else if (value < INT32_MIN || value > INT32_MAX)
    return mismatch(field, attr);
  else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32)
    reflection->SetInt32(&message, field, value);
  else
    reflection->SetEnumValue(&message, field, value);
  return success();
}
