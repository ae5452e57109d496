// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts TensorProtos to attributes and back, recording whatever the
// attribute itself cannot hold.

#include "Tensors.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "TensorData.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace htp;
using ::onnx::TensorProto;

/// Tensors up to this many elements are `dense`.
static constexpr int64_t kMaxDenseElements = 16;

/// Fields that the attribute's value represents.
static constexpr int kDataFields[] = {
    TensorProto::kDimsFieldNumber,       TensorProto::kDataTypeFieldNumber,
    TensorProto::kFloatDataFieldNumber,  TensorProto::kInt32DataFieldNumber,
    TensorProto::kStringDataFieldNumber, TensorProto::kInt64DataFieldNumber,
    TensorProto::kDoubleDataFieldNumber, TensorProto::kUint64DataFieldNumber,
    TensorProto::kRawDataFieldNumber};

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

/// The type of a tensor; null, with an error, if its dimensions or element type
/// are invalid.
static RankedTensorType getType(const TensorProto &tensor, MLIRContext *context,
                                std::string &error) {
  Type element = htp::onnx::getElementType(tensor.data_type(), context);
  if (!element) {
    error = "has data type " + std::to_string(tensor.data_type()) +
            ", which ONNX does not have";
    return {};
  }
  uint64_t count = 1;
  for (int64_t dim : tensor.dims()) {
    if (dim < 0) {
      error = "has a negative dimension, " + std::to_string(dim);
      return {};
    }
    if (__builtin_mul_overflow(count, dim, &count) || count > (1ull << 60)) {
      error = "has dimensions whose product overflows";
      return {};
    }
  }
  ArrayRef<int64_t> dims(tensor.dims().data(), tensor.dims_size());
  return RankedTensorType::get(dims, element);
}

/// The name of the only field that holds data, "raw_data" and "none" included.
static std::optional<StringRef> getStorage(const TensorProto &tensor,
                                           bool hasRaw, std::string &error) {
  SmallVector<StringRef> fields = getUsedFields(tensor);
  if (hasRaw)
    fields.push_back("raw_data");
  if (fields.size() > 1) {
    error = "has its data twice, in " + llvm::join(fields, " and ");
    return std::nullopt;
  }
  if (fields.empty())
    return "none";
  StringRef typed = getTypedField(tensor.data_type());
  if (fields[0] != "raw_data" && fields[0] != typed) {
    error = ("has its data in " + fields[0] + ", but elements of type " +
             TensorProto::DataType_Name(
                 static_cast<TensorProto::DataType>(tensor.data_type())) +
             " belong in " + typed)
                .str();
    return std::nullopt;
  }
  if (fields[0] == "raw_data" && typed == "string_data") {
    error = "has strings in raw_data";
    return std::nullopt;
  }
  return fields[0];
}

static std::string wrongLength(StringRef what, uint64_t found,
                               uint64_t expected, RankedTensorType type) {
  std::string message;
  llvm::raw_string_ostream(message)
      << "has " << found << ' ' << what << " of data, but " << type << " takes "
      << expected;
  return message;
}

/// Whether a tensor has fields besides its data and its name, metadata aside.
/// A cheap check, as protobuf's reflection takes longer than importing a small
/// tensor.
static bool hasMore(const TensorProto &tensor, const ModelFile &file) {
  static const bool knowsAll = TensorProto::descriptor()->field_count() == 15;
  const auto &unknown = tensor.unknown_fields();
  bool isPlain = unknown.empty() || (unknown.field_count() == 1 &&
                                     file.isStandIn(unknown.field(0)));
  return !knowsAll || !isPlain || tensor.has_segment() ||
         tensor.has_doc_string() || tensor.external_data_size() ||
         tensor.has_data_location();
}

Attribute TensorImporter::importStrings(const TensorProto &tensor,
                                        RankedTensorType type) {
  SmallVector<StringRef> strings(tensor.string_data().begin(),
                                 tensor.string_data().end());
  return DenseStringElementsAttr::get(type, strings);
}

/// Null if an entry has no key or no value.
Attribute TensorImporter::importExternal(const TensorProto &tensor,
                                         RankedTensorType type) {
  SmallVector<Attribute> entries;
  Builder builder(context);
  for (const auto &entry : tensor.external_data()) {
    if (!entry.has_key() || !entry.has_value() ||
        !entry.unknown_fields().empty())
      return {};
    entries.push_back(builder.getStrArrayAttr({entry.key(), entry.value()}));
  }
  return htp::onnx::ExternalAttr::get(context, type,
                                      builder.getArrayAttr(entries));
}

Attribute TensorImporter::importBytes(RankedTensorType type,
                                      ArrayRef<char> bytes, bool borrowed,
                                      StringRef name) {
  if (type.getNumElements() <= kMaxDenseElements)
    if (DenseElementsAttr dense = packDense(type, bytes))
      return dense;
  if (name.empty())
    name = "tensor";
  return borrowed ? getBorrowedResource(type, name, bytes, file)
                  : getCopiedResource(type, name, bytes);
}

Attribute TensorImporter::import(const TensorProto &tensor, NamedAttrList &rest,
                                 std::string &error, bool skipMetadata) {
  RankedTensorType type = getType(tensor, context, error);
  if (!type)
    return {};
  bool hasRaw = file->hasRawData(tensor);
  std::optional<StringRef> storage = getStorage(tensor, hasRaw, error);
  if (!storage)
    return {};
  SmallVector<int> skip(std::begin(kDataFields), std::end(kDataFields));
  if (skipMetadata)
    skip.push_back(TensorProto::kMetadataPropsFieldNumber);
  if (tensor.data_location() == TensorProto::EXTERNAL && *storage == "none")
    if (Attribute external = importExternal(tensor, type)) {
      skip.push_back(TensorProto::kDataLocationFieldNumber);
      skip.push_back(TensorProto::kExternalDataFieldNumber);
      encoder.encodeFields(tensor, rest, skip);
      return external;
    }
  std::string packed;
  bool isString = isa<htp::onnx::StringType>(type.getElementType());
  if (!hasRaw && !isString && !packTypedField(tensor, packed)) {
    // Keep the field with the rest, entry by entry.
    skip = {TensorProto::kDimsFieldNumber, TensorProto::kDataTypeFieldNumber};
    if (skipMetadata)
      skip.push_back(TensorProto::kMetadataPropsFieldNumber);
    storage = "rest";
  }
  const bool isPlain = *storage == "raw_data" && !hasMore(tensor, *file) &&
                       (skipMetadata || !tensor.metadata_props_size());
  if (!isPlain)
    encoder.encodeFields(tensor, rest, skip);
  else if (tensor.has_name())
    rest.append("name", StringAttr::get(context, tensor.name()));
  if (*storage != "raw_data")
    rest.append("storage", StringAttr::get(context, *storage));
  uint64_t count = type.getNumElements();
  if (isString) {
    if (count == static_cast<uint64_t>(tensor.string_data_size()))
      return importStrings(tensor, type);
    error = wrongLength("strings", tensor.string_data_size(), count, type);
    return {};
  }
  ArrayRef<char> bytes = hasRaw ? file->rawData(tensor)
                                : ArrayRef<char>(packed.data(), packed.size());
  std::optional<uint64_t> size = htp::onnx::getRawSize(type);
  if (!size || *size != bytes.size()) {
    error = wrongLength("bytes", bytes.size(), size.value_or(0), type);
    return {};
  }
  // Spans stay valid while the file is mapped; data in the message does not.
  return importBytes(type, bytes, file->isSpan(tensor), tensor.name());
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

static LogicalResult exportBytes(ArrayRef<char> bytes, StringRef storage,
                                 ModelWriter &writer, TensorProto &tensor,
                                 bool copy) {
  if (storage == "rest" || (storage == "none" && bytes.empty()))
    return success();
  if (storage.empty() || storage != getTypedField(tensor.data_type())) {
    if (copy)
      tensor.set_raw_data(bytes.data(), bytes.size());
    else
      writer.setRawData(tensor, bytes);
    return success();
  }
  unpackTypedField(bytes, tensor);
  return success();
}

LogicalResult htp::exportTensor(Attribute value, DictionaryAttr rest,
                                const ProtoDecoder &decoder,
                                ModelWriter &writer, TensorProto &tensor,
                                std::string &error) {
  if (rest &&
      failed(decoder.decode(rest.getValue(), tensor, {"no_name", "storage"})))
    return failure();
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  auto type =
      typed ? dyn_cast<RankedTensorType>(typed.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() ||
      !htp::onnx::getDataType(type.getElementType())) {
    llvm::raw_string_ostream(error)
        << "is not a tensor that ONNX supports: " << value;
    return failure();
  }
  tensor.mutable_dims()->Assign(type.getShape().begin(), type.getShape().end());
  tensor.set_data_type(htp::onnx::getDataType(type.getElementType()));
  if (auto external = dyn_cast<htp::onnx::ExternalAttr>(value)) {
    for (ArrayAttr entry : external.getEntries().getAsRange<ArrayAttr>()) {
      auto *pair = tensor.add_external_data();
      pair->set_key(cast<StringAttr>(entry[0]).str());
      pair->set_value(cast<StringAttr>(entry[1]).str());
    }
    tensor.set_data_location(TensorProto::EXTERNAL);
    return success();
  }
  auto storageAttr = rest ? rest.getAs<StringAttr>("storage") : StringAttr();
  StringRef storage = storageAttr ? storageAttr.getValue() : "";
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value)) {
    for (StringRef string : strings.getValues<StringRef>())
      tensor.add_string_data(string.str());
    return success();
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return exportBytes(unpackDense(dense), storage, writer, tensor, true);
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob) {
    error = "has no data: its resource is missing or was left out of the text";
    return failure();
  }
  if (blob->getData().size() != htp::onnx::getRawSize(type)) {
    error = wrongLength("bytes", blob->getData().size(),
                        htp::onnx::getRawSize(type).value_or(0), type);
    return failure();
  }
  return exportBytes(blob->getData(), storage, writer, tensor, false);
}
