// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of types, names of dimensions, and value infos.

#include "Types.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// TypeProto.Tensor and TypeProto.SparseTensor have the same fields.
template <typename TensorT>
static Type importTensorType(const TensorT &proto, MLIRContext *context,
                             std::string &error) {
  Type element = htp::onnx::getElementType(proto.elem_type(), context);
  if (!element) {
    if (proto.elem_type() == ::onnx::TensorProto::UNDEFINED)
      return NoneType::get(context);
    error = "has element type " + std::to_string(proto.elem_type()) +
            ", which ONNX does not have";
    return {};
  }
  if (!proto.has_shape())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (const TensorShapeProto::Dimension &dim : proto.shape().dim()) {
    if (!dim.has_dim_value()) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    if (dim.dim_value() < 0) {
      error = "has a negative dimension, " + std::to_string(dim.dim_value());
      return {};
    }
    shape.push_back(dim.dim_value());
  }
  return RankedTensorType::get(shape, element);
}

Type htp::importType(const TypeProto &proto, MLIRContext *context,
                     std::string &error) {
  auto nested = [&](const TypeProto &inner, auto make) -> Type {
    Type type = importType(inner, context, error);
    return type ? make(type) : Type();
  };
  switch (proto.value_case()) {
  case TypeProto::kTensorType:
    return importTensorType(proto.tensor_type(), context, error);
  case TypeProto::kSparseTensorType: {
    Type type = importTensorType(proto.sparse_tensor_type(), context, error);
    return type ? htp::onnx::SparseTensorType::get(context, type) : Type();
  }
  case TypeProto::kSequenceType:
    return nested(proto.sequence_type().elem_type(), [&](Type type) {
      return htp::onnx::SeqType::get(context, type);
    });
  case TypeProto::kOptionalType:
    return nested(proto.optional_type().elem_type(), [&](Type type) {
      return htp::onnx::OptType::get(context, type);
    });
  case TypeProto::kMapType: {
    Type key = htp::onnx::getElementType(proto.map_type().key_type(), context);
    if (!key)
      key = NoneType::get(context);
    return nested(proto.map_type().value_type(), [&](Type type) {
      return htp::onnx::MapType::get(context, key, type);
    });
  }
  case TypeProto::kOpaqueType:
    return htp::onnx::OpaqueType::get(
        context, StringAttr::get(context, proto.opaque_type().domain()),
        StringAttr::get(context, proto.opaque_type().name()));
  case TypeProto::VALUE_NOT_SET:
    return NoneType::get(context);
  }
  return NoneType::get(context);
}

template <typename TensorT>
static void exportTensorType(TensorType type, TensorT &proto) {
  proto.set_elem_type(htp::onnx::getDataType(type.getElementType()));
  if (!type.hasRank())
    return;
  TensorShapeProto &shape = *proto.mutable_shape();
  for (int64_t dim : type.getShape()) {
    auto *entry = shape.add_dim();
    if (!ShapedType::isDynamic(dim))
      entry->set_dim_value(dim);
  }
}

void htp::exportType(Type type, TypeProto &proto) {
  llvm::TypeSwitch<Type>(type)
      .Case([&](TensorType tensor) {
        exportTensorType(tensor, *proto.mutable_tensor_type());
      })
      .Case([&](htp::onnx::SparseTensorType sparse) {
        // Without an element type it is sparse all the same.
        auto &entry = *proto.mutable_sparse_tensor_type();
        if (auto tensor = dyn_cast<TensorType>(sparse.getTensorType()))
          exportTensorType(tensor, entry);
      })
      .Case([&](htp::onnx::SeqType sequence) {
        exportType(sequence.getElementType(),
                   *proto.mutable_sequence_type()->mutable_elem_type());
      })
      .Case([&](htp::onnx::OptType optional) {
        exportType(optional.getElementType(),
                   *proto.mutable_optional_type()->mutable_elem_type());
      })
      .Case([&](htp::onnx::MapType map) {
        proto.mutable_map_type()->set_key_type(
            htp::onnx::getDataType(map.getKeyType()));
        exportType(map.getValueType(),
                   *proto.mutable_map_type()->mutable_value_type());
      })
      .Case([&](htp::onnx::OpaqueType opaque) {
        auto &entry = *proto.mutable_opaque_type();
        if (!opaque.getDomain().empty())
          entry.set_domain(opaque.getDomain().str());
        entry.set_name(opaque.getName().str());
      });
}

//===----------------------------------------------------------------------===//
// Names of dimensions
//===----------------------------------------------------------------------===//

static TensorShapeProto *getShape(TypeProto &proto) {
  if (proto.has_tensor_type() && proto.tensor_type().has_shape())
    return proto.mutable_tensor_type()->mutable_shape();
  return nullptr;
}

/// "0:batch,2:length" for the named dimensions of a tensor.
static std::string getDimParams(const TypeProto &proto) {
  std::string params;
  if (!proto.has_tensor_type())
    return params;
  const TensorShapeProto &shape = proto.tensor_type().shape();
  for (int i = 0; i < shape.dim_size(); ++i)
    if (shape.dim(i).has_dim_param())
      params += (params.empty() ? "" : ",") + std::to_string(i) + ":" +
                shape.dim(i).dim_param();
  return params;
}

/// Names the dynamic dimensions that `params` lists.
static void setDimParams(TypeProto &proto, StringRef params) {
  TensorShapeProto *shape = getShape(proto);
  SmallVector<StringRef> entries;
  params.split(entries, ',');
  for (StringRef entry : entries) {
    auto [index, name] = entry.split(':');
    int dim;
    if (shape && !index.getAsInteger(10, dim) && dim >= 0 &&
        dim < shape->dim_size() && !shape->dim(dim).has_dim_value())
      shape->mutable_dim(dim)->set_dim_param(name.str());
  }
}

//===----------------------------------------------------------------------===//
// Value infos
//===----------------------------------------------------------------------===//

static bool equal(const google::protobuf::MessageLite &a,
                  const google::protobuf::MessageLite &b) {
  return a.SerializePartialAsString() == b.SerializePartialAsString();
}

void htp::importValueInfo(const ValueInfoProto &info, Type type,
                          const ProtoEncoder &encoder, NamedAttrList &rest,
                          bool skipMetadata) {
  SmallVector<int> skip = {ValueInfoProto::kNameFieldNumber,
                           ValueInfoProto::kTypeFieldNumber};
  if (skipMetadata)
    skip.push_back(ValueInfoProto::kMetadataPropsFieldNumber);
  encoder.encodeFields(info, rest, skip);
  MLIRContext *context = type.getContext();
  if (!info.has_name())
    rest.append("no_name", UnitAttr::get(context));
  if (!info.has_type()) {
    rest.append("no_type", UnitAttr::get(context));
    return;
  }
  TypeProto plain;
  exportType(type, plain);
  // A type that says nothing is there all the same, but is not written.
  const bool isWritten = !isa<NoneType>(type);
  if (isWritten && equal(plain, info.type()))
    return;
  std::string params = getDimParams(info.type());
  setDimParams(plain, params);
  if (isWritten && equal(plain, info.type()))
    rest.append("dim_params", StringAttr::get(context, params));
  else
    rest.append("type", encoder.encode(info.type()));
  // A model may state different types for one value in different places.
  std::string error;
  if (importType(info.type(), context, error) != type)
    rest.append("as_is", UnitAttr::get(context));
}

LogicalResult htp::exportValueInfo(StringRef name, Type type,
                                   DictionaryAttr rest,
                                   const ProtoDecoder &decoder,
                                   ValueInfoProto &info) {
  if (!rest || !rest.contains("no_name"))
    info.set_name(name.str());
  if (auto stated = rest ? rest.getAs<TypeAttr>("stated") : nullptr)
    type = stated.getValue();
  if (rest && failed(decoder.decode(rest.getValue(), info,
                                    {"as_is", "default", "default_info",
                                     "detached", "dim_params", "name",
                                     "no_name", "no_type", "stated", "type"})))
    return failure();
  if (rest && rest.contains("no_type"))
    return success();
  if (auto recorded = rest ? rest.getAs<DictionaryAttr>("type") : nullptr) {
    TypeProto &proto = *info.mutable_type();
    if (failed(decoder.decode(recorded.getValue(), proto)))
      return failure();
    std::string error;
    if (rest.contains("as_is") ||
        importType(proto, type.getContext(), error) == type)
      return success();
    info.clear_type();
  }
  if (isa<NoneType>(type))
    return success();
  exportType(type, *info.mutable_type());
  if (auto params = rest ? rest.getAs<StringAttr>("dim_params") : nullptr)
    setDimParams(*info.mutable_type(), params);
  return success();
}
