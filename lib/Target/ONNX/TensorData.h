// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts tensor elements between ONNX raw data, the typed fields of a
// TensorProto, and MLIR's dense attributes.

#ifndef HTP_LIB_TARGET_ONNX_TENSORDATA_H
#define HTP_LIB_TARGET_ONNX_TENSORDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "onnx/onnx_pb.h"

namespace htp {

/// The typed field that ONNX uses for elements of this data type, such as
/// "int32_data" for bool; empty for none.
llvm::StringRef getTypedField(int32_t dataType);

/// The names of the typed fields that are not empty.
llvm::SmallVector<llvm::StringRef>
getUsedFields(const ::onnx::TensorProto &tensor);

/// Typed field → raw data. False if an entry has more bits than an element, so
/// that the conversion would lose information.
bool packTypedField(const ::onnx::TensorProto &tensor, std::string &bytes);

/// Raw data → the typed field of the tensor's data type.
void unpackTypedField(llvm::ArrayRef<char> bytes, ::onnx::TensorProto &tensor);

/// Raw data → `dense`. Null if a byte has bits outside of the element type (a
/// bool of 2), which `dense` cannot represent.
mlir::DenseElementsAttr packDense(mlir::RankedTensorType type,
                                  llvm::ArrayRef<char> bytes);

/// `dense` → raw data.
std::string unpackDense(mlir::DenseElementsAttr dense);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TENSORDATA_H
