// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between AttributeProto and MLIR attributes.
//
// INT is si64 (for `to` of Cast, the type that it names, as in onnx-mlir),
// FLOAT f32, STRING a string, INTS an array of i64, other lists are arrays,
// TENSOR elements, TYPE_PROTO a type. Information that the value cannot hold is
// stored in `onnx.attribute_info`; an attribute that cannot be represented at
// all is stored in `onnx.attributes`, field by field.

#ifndef HTP_LIB_TARGET_ONNX_ATTRIBUTES_H
#define HTP_LIB_TARGET_ONNX_ATTRIBUTES_H

#include "ProtoAttr.h"
#include "Tensors.h"

namespace htp {

/// How one AttributeProto is represented.
struct ImportedAttribute {
  mlir::Attribute value;     // null: `info` is the whole attribute
  mlir::DictionaryAttr info; // null: nothing to add
  bool isGraph = false;      // the value is one or more regions
};

/// Fails with the reason in `error`. Graphs are left to the caller.
mlir::FailureOr<ImportedAttribute>
importAttribute(const ::onnx::AttributeProto &proto, bool isDataType,
                const ProtoEncoder &encoder, TensorImporter &tensors,
                mlir::MLIRContext *context, std::string &error);

mlir::LogicalResult exportAttribute(llvm::StringRef name, mlir::Attribute value,
                                    mlir::DictionaryAttr info,
                                    const ProtoDecoder &decoder,
                                    ModelWriter &writer,
                                    ::onnx::AttributeProto &proto,
                                    std::string &error);

/// Sets the fields other than the value, from `info` if not null.
mlir::LogicalResult
exportAttributeShell(llvm::StringRef name,
                     ::onnx::AttributeProto::AttributeType type,
                     mlir::DictionaryAttr info, const ProtoDecoder &decoder,
                     ::onnx::AttributeProto &proto);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ATTRIBUTES_H
