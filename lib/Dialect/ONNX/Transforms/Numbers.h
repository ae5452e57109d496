// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers that a model computes sizes with, and what the usual ops make of
// them. Some elements may be unknown: the length of a dynamic dimension among
// fixed ones.

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

  /// More than this is no computation of sizes.
  static constexpr int64_t kMost = 4096;

  /// What a constant holds; nothing where it holds no integers or too many.
  static std::optional<Numbers> read(mlir::Attribute value);

  bool isComplete() const;
  /// As elements of `elementType`; null where an element is unknown.
  mlir::DenseElementsAttr toElements(mlir::Type elementType) const;
};

/// What `op` makes of its operands (null: not known). Nothing for an op that is
/// none of those that compute sizes, or where too little is known.
std::optional<Numbers> evaluate(mlir::Operation *op,
                                llvm::ArrayRef<const Numbers *> operands);

/// The shape that Reshape, Expand or ConstantOfShape gives its result where
/// the numbers that it goes by are known in part; nothing for other ops.
std::optional<llvm::SmallVector<int64_t>>
shapeFrom(mlir::Operation *op, llvm::ArrayRef<const Numbers *> operands);

} // namespace htp::onnx

#endif // HTP_LIB_DIALECT_ONNX_TRANSFORMS_NUMBERS_H
