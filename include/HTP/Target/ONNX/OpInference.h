// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's own type inference for one operation.

#ifndef HTP_TARGET_ONNX_OPINFERENCE_H
#define HTP_TARGET_ONNX_OPINFERENCE_H

#include "mlir/IR/Operation.h"

namespace htp {

/// The result types of `op` that ONNX infers from the types of its operands and
/// from the values in `known` (one entry per operand; null if unknown; small
/// tensors of integers or bools). A type is null if it cannot be inferred.
llvm::SmallVector<mlir::Type>
inferTypes(mlir::Operation *op, llvm::ArrayRef<mlir::DenseElementsAttr> known);

} // namespace htp

#endif // HTP_TARGET_ONNX_OPINFERENCE_H
