// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AttributeProto ⇄ attributes.
//
// INT is si64 (for `to` of Cast, the type that it names, as in onnx-mlir),
// FLOAT f32, STRING a string, INTS an array of i64,
// other lists are arrays, TENSOR elements, TYPE_PROTO a
// type. What an attribute's value does not say stands beside it, in
// `onnx.attribute_info`; an attribute without such a form stands in
// `onnx.attributes`, field by field.

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

/// Fails with the reason in `error`. Graphs are the caller's.
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

/// Sets the fields beside the value, from `info` where there is one.
mlir::LogicalResult
exportAttributeShell(llvm::StringRef name,
                     ::onnx::AttributeProto::AttributeType type,
                     mlir::DictionaryAttr info, const ProtoDecoder &decoder,
                     ::onnx::AttributeProto &proto);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ATTRIBUTES_H
