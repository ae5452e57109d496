// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of AttributeProto, with the rules for which field holds the value.

#include "Attributes.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "Types.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace htp;
using google::protobuf::FieldDescriptor;
using ::onnx::AttributeProto;

//===----------------------------------------------------------------------===//
// Which field holds what
//===----------------------------------------------------------------------===//

static constexpr std::pair<AttributeProto::AttributeType, int> kValueFields[] =
    {{AttributeProto::FLOAT, AttributeProto::kFFieldNumber},
     {AttributeProto::INT, AttributeProto::kIFieldNumber},
     {AttributeProto::STRING, AttributeProto::kSFieldNumber},
     {AttributeProto::TENSOR, AttributeProto::kTFieldNumber},
     {AttributeProto::GRAPH, AttributeProto::kGFieldNumber},
     {AttributeProto::SPARSE_TENSOR, AttributeProto::kSparseTensorFieldNumber},
     {AttributeProto::TYPE_PROTO, AttributeProto::kTpFieldNumber},
     {AttributeProto::FLOATS, AttributeProto::kFloatsFieldNumber},
     {AttributeProto::INTS, AttributeProto::kIntsFieldNumber},
     {AttributeProto::STRINGS, AttributeProto::kStringsFieldNumber},
     {AttributeProto::TENSORS, AttributeProto::kTensorsFieldNumber},
     {AttributeProto::GRAPHS, AttributeProto::kGraphsFieldNumber},
     {AttributeProto::SPARSE_TENSORS,
      AttributeProto::kSparseTensorsFieldNumber},
     {AttributeProto::TYPE_PROTOS, AttributeProto::kTypeProtosFieldNumber}};

static SmallVector<int> allValueFields() {
  SmallVector<int> fields;
  for (auto [type, field] : kValueFields)
    fields.push_back(field);
  return fields;
}

/// The type of the attribute: the declared one, or that of the only value field
/// that is set. UNDEFINED if the fields contradict each other or the declared
/// type.
static AttributeProto::AttributeType getValueType(const AttributeProto &proto) {
  std::vector<const FieldDescriptor *> fields;
  proto.GetReflection()->ListFields(proto, &fields);
  AttributeProto::AttributeType type = proto.type();
  for (const FieldDescriptor *field : fields)
    for (auto [valueType, number] : kValueFields) {
      if (number != field->number() || valueType == type)
        continue;
      if (type != AttributeProto::UNDEFINED)
        return AttributeProto::UNDEFINED;
      type = valueType;
    }
  return type;
}

/// Whether the value field is set. Lists may be empty.
static bool hasValue(const AttributeProto &proto,
                     AttributeProto::AttributeType type) {
  for (auto [valueType, number] : kValueFields)
    if (valueType == type) {
      const FieldDescriptor *field =
          proto.GetDescriptor()->FindFieldByNumber(number);
      return field->is_repeated() ||
             proto.GetReflection()->HasField(proto, field);
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

static Attribute importInt(int64_t value, MLIRContext *context) {
  return IntegerAttr::get(IntegerType::get(context, 64, IntegerType::Signed),
                          value);
}
static Attribute importFloat(float value, MLIRContext *context) {
  return FloatAttr::get(Float32Type::get(context), APFloat(value));
}

template <typename RangeT, typename FnT>
static Attribute importList(const RangeT &values, MLIRContext *context,
                            FnT import) {
  SmallVector<Attribute> elements;
  elements.reserve(values.size());
  for (const auto &value : values)
    elements.push_back(import(value));
  return ArrayAttr::get(context, elements);
}

/// The MLIR type, if exporting it gives this very message.
static Attribute importTypeAttr(const ::onnx::TypeProto &proto,
                                MLIRContext *context) {
  std::string error;
  Type type = importType(proto, context, error);
  // `none` and bare element types would not come back as a TypeProto.
  if (!type || isa<NoneType>(type))
    return {};
  ::onnx::TypeProto plain;
  exportType(type, plain);
  if (plain.SerializeAsString() != proto.SerializeAsString())
    return {};
  return TypeAttr::get(type);
}

/// Imports values other than tensors and graphs; null for those.
static Attribute importValue(const AttributeProto &proto,
                             AttributeProto::AttributeType type,
                             bool isDataType, MLIRContext *context) {
  auto string = [&](const std::string &value) -> Attribute {
    return StringAttr::get(context, value);
  };
  switch (type) {
  case AttributeProto::INT:
    if (isDataType && proto.i() == static_cast<int32_t>(proto.i()))
      if (Type element = htp::onnx::getElementType(proto.i(), context))
        return TypeAttr::get(element);
    return importInt(proto.i(), context);
  case AttributeProto::FLOAT:
    return importFloat(proto.f(), context);
  case AttributeProto::STRING:
    return string(proto.s());
  case AttributeProto::INTS:
    return importList(proto.ints(), context, [&](int64_t value) -> Attribute {
      return IntegerAttr::get(IntegerType::get(context, 64), value);
    });
  case AttributeProto::FLOATS:
    return importList(proto.floats(), context,
                      [&](float value) { return importFloat(value, context); });
  case AttributeProto::STRINGS:
    return importList(proto.strings(), context, string);
  case AttributeProto::TYPE_PROTO:
    return importTypeAttr(proto.tp(), context);
  default:
    return {};
  }
}

/// The attribute type that the exporter assumes by default for `value`.
static AttributeProto::AttributeType guessType(Attribute value) {
  if (isa<IntegerAttr>(value))
    return AttributeProto::INT;
  if (isa<FloatAttr>(value))
    return AttributeProto::FLOAT;
  if (isa<StringAttr>(value))
    return AttributeProto::STRING;
  if (isa<ElementsAttr, htp::onnx::ExternalAttr>(value))
    return AttributeProto::TENSOR;
  if (auto type = dyn_cast<TypeAttr>(value))
    return htp::onnx::getDataType(type.getValue()) ? AttributeProto::INT
                                                   : AttributeProto::TYPE_PROTO;
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list || list.empty())
    return AttributeProto::UNDEFINED;
  if (llvm::all_of(list, llvm::IsaPred<IntegerAttr>))
    return AttributeProto::INTS;
  if (llvm::all_of(list, llvm::IsaPred<FloatAttr>))
    return AttributeProto::FLOATS;
  if (llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

/// `info` if it contains more than can be derived; null otherwise.
static DictionaryAttr needed(NamedAttrList &info, StringRef name,
                             AttributeProto::AttributeType guessed,
                             MLIRContext *context) {
  auto nameAttr = dyn_cast_or_null<StringAttr>(info.get("name"));
  auto type = dyn_cast_or_null<IntegerAttr>(info.get("type"));
  bool plain = info.getAttrs().size() == 2 && nameAttr &&
               nameAttr.getValue() == name && type &&
               type.getValue() == static_cast<uint64_t>(guessed);
  if (plain)
    return {};
  if (nameAttr)
    info.erase("name");
  return info.getDictionary(context);
}

FailureOr<ImportedAttribute>
htp::importAttribute(const AttributeProto &proto, bool isDataType,
                     const ProtoEncoder &encoder, TensorImporter &tensors,
                     MLIRContext *context, std::string &error) {
  ImportedAttribute result;
  AttributeProto::AttributeType type = getValueType(proto);
  NamedAttrList info;
  encoder.encodeFields(proto, info, allValueFields());
  AttributeProto::AttributeType guessed = type;
  if (hasValue(proto, type)) {
    if (proto.has_g() || proto.graphs_size()) {
      // A single region implies GRAPH; a list of graphs must be recorded.
      result.isGraph = true;
      guessed = AttributeProto::GRAPH;
    } else if (type == AttributeProto::TENSOR) {
      NamedAttrList rest;
      result.value = tensors.import(proto.t(), rest, error);
      if (!result.value)
        return failure();
      if (!rest.empty())
        info.append("t", rest.getDictionary(context));
    } else {
      result.value = importValue(proto, type, isDataType, context);
      if (result.value)
        guessed = guessType(result.value);
    }
  }
  if (result.value || result.isGraph)
    result.info = needed(info, proto.name(), guessed, context);
  else
    result.info = encoder.encode(proto);
  return result;
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

LogicalResult htp::exportAttributeShell(StringRef name,
                                        AttributeProto::AttributeType type,
                                        DictionaryAttr info,
                                        const ProtoDecoder &decoder,
                                        AttributeProto &proto) {
  proto.set_name(name.str());
  if (info)
    return decoder.decode(info.getValue(), proto, {"t"});
  proto.set_type(type);
  return success();
}

/// Sets the value field for this type; false if `value` does not fit.
static bool exportValue(Attribute value, AttributeProto::AttributeType type,
                        AttributeProto &proto) {
  auto integer = [](Attribute attr) {
    return cast<IntegerAttr>(attr).getValue().getSExtValue();
  };
  auto number = [](Attribute attr) {
    return cast<FloatAttr>(attr).getValue().convertToFloat();
  };
  auto list = dyn_cast<ArrayAttr>(value);
  switch (type) {
  case AttributeProto::INT:
    if (auto typeAttr = dyn_cast<TypeAttr>(value))
      proto.set_i(htp::onnx::getDataType(typeAttr.getValue()));
    else if (auto boolean = dyn_cast<BoolAttr>(value))
      proto.set_i(boolean.getValue());
    else
      proto.set_i(integer(value));
    return true;
  case AttributeProto::FLOAT:
    if (!cast<FloatAttr>(value).getType().isF32())
      return false;
    proto.set_f(number(value));
    return true;
  case AttributeProto::STRING:
    proto.set_s(cast<StringAttr>(value).str());
    return true;
  case AttributeProto::TYPE_PROTO:
    exportType(cast<TypeAttr>(value).getValue(), *proto.mutable_tp());
    return true;
  case AttributeProto::INTS:
    for (Attribute element : list)
      proto.add_ints(integer(element));
    return true;
  case AttributeProto::FLOATS:
    for (Attribute element : list) {
      if (!cast<FloatAttr>(element).getType().isF32())
        return false;
      proto.add_floats(number(element));
    }
    return true;
  case AttributeProto::STRINGS:
    for (Attribute element : list)
      proto.add_strings(cast<StringAttr>(element).str());
    return true;
  default:
    // For an empty list, the type is all that needs to be set.
    return list && list.empty();
  }
}

LogicalResult htp::exportAttribute(StringRef name, Attribute value,
                                   DictionaryAttr info,
                                   const ProtoDecoder &decoder,
                                   ModelWriter &writer, AttributeProto &proto,
                                   std::string &error) {
  AttributeProto::AttributeType type = guessType(value);
  if (failed(exportAttributeShell(
          name, type == AttributeProto::UNDEFINED ? AttributeProto::INTS : type,
          info, decoder, proto)))
    return failure();
  if (type == AttributeProto::TENSOR) {
    auto rest = info ? info.getAs<DictionaryAttr>("t") : DictionaryAttr();
    return exportTensor(value, rest, decoder, writer, *proto.mutable_t(),
                        error);
  }
  if (exportValue(value, type, proto))
    return success();
  llvm::raw_string_ostream(error) << "has no form in ONNX: " << value;
  return failure();
}
