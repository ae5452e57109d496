// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between TensorProto and MLIR attributes.
//
// The value is `dense` for a handful of elements (shapes, axes: what people and
// passes read), `dense_resource` with the bytes where they lie for the others,
// and
// `#onnx.external` for external data. A resource holds ONNX raw data: little
// endian, elements of 2 and 4 bits packed, a byte for a bool.
//
// `rest` holds whatever the value does not: `storage` names the typed field
// that held the data ("none" if no field did; absent for raw data); other
// fields of the message are stored under their own names.

#ifndef HTP_LIB_TARGET_ONNX_TENSORS_H
#define HTP_LIB_TARGET_ONNX_TENSORS_H

#include "ProtoAttr.h"

#include "mlir/IR/BuiltinTypes.h"

namespace htp {

class TensorImporter {
public:
  TensorImporter(mlir::MLIRContext *context, std::shared_ptr<ModelFile> file)
      : context(context), file(file), encoder(context, file) {}

  /// Null, with the reason in `error`, for an invalid tensor.
  mlir::Attribute import(const ::onnx::TensorProto &tensor,
                         mlir::NamedAttrList &rest, std::string &error,
                         bool skipMetadata = false);

private:
  mlir::Attribute importStrings(const ::onnx::TensorProto &tensor,
                                mlir::RankedTensorType type);
  mlir::Attribute importExternal(const ::onnx::TensorProto &tensor,
                                 mlir::RankedTensorType type);
  mlir::Attribute importBytes(mlir::RankedTensorType type,
                              llvm::ArrayRef<char> bytes, bool borrowed,
                              llvm::StringRef name);

  mlir::MLIRContext *context;
  std::shared_ptr<ModelFile> file;
  ProtoEncoder encoder;
};

/// The inverse; fails with the reason in `error`.
mlir::LogicalResult
exportTensor(mlir::Attribute value, mlir::DictionaryAttr rest,
             const ProtoDecoder &decoder, ModelWriter &writer,
             ::onnx::TensorProto &tensor, std::string &error);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TENSORS_H
