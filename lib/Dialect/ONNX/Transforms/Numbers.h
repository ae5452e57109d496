// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant folding for the integer tensors that models compute sizes with. Some
// elements may be unknown, such as a dynamic dimension among static ones.

#ifndef HTP_LIB_DIALECT_ONNX_TRANSFORMS_NUMBERS_H
#define HTP_LIB_DIALECT_ONNX_TRANSFORMS_NUMBERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace htp::onnx {

/// A tensor of integers or bools.
struct Numbers {
  using Number = std::optional<int64_t>;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Number> values;

  /// Larger tensors are not size computations.
  static constexpr int64_t kMaxElements = 4096;

  /// The contents of a constant; nothing if they are not integers or too many.
  static std::optional<Numbers> read(mlir::Attribute value);

  bool isComplete() const;
  /// As an attribute with elements of `elementType`; null if any element is
  /// unknown.
  mlir::DenseElementsAttr toElements(mlir::Type elementType) const;
};

/// The result of `op` for these operands (null: unknown). Nothing if the op is
/// not one of those that compute sizes, or if too little is known.
std::optional<Numbers> evaluate(mlir::Operation *op,
                                llvm::ArrayRef<const Numbers *> operands);

/// The result shape of Reshape, Expand or ConstantOfShape if its shape operand
/// is partly known; nothing for other ops.
std::optional<llvm::SmallVector<int64_t>>
shapeFrom(mlir::Operation *op, llvm::ArrayRef<const Numbers *> operands);

} // namespace htp::onnx

#endif // HTP_LIB_DIALECT_ONNX_TRANSFORMS_NUMBERS_H
