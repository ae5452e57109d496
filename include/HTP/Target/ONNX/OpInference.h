// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's own type inference for one operation.

#ifndef HTP_TARGET_ONNX_OPINFERENCE_H
#define HTP_TARGET_ONNX_OPINFERENCE_H

#include "mlir/IR/Operation.h"

namespace htp {

/// The types of the results of `op` as far as ONNX can tell from those of its
/// operands, and from the contents of some of them (null: not known; small
/// integer or bool elements). Null where it cannot.
llvm::SmallVector<mlir::Type>
inferTypes(mlir::Operation *op, llvm::ArrayRef<mlir::DenseElementsAttr> known);

} // namespace htp

#endif // HTP_TARGET_ONNX_OPINFERENCE_H
