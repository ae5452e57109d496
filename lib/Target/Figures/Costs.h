// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The costs of one operation: multiply-adds from a table of operators, and
// bytes from the sizes of tensors.
//
// As is common, only products count: convolutions, matrix products, attention,
// recurrent cells. Everything else moves or maps elements and counts 0. Unknown
// costs (an unknown operator, dynamic sizes) are reported as unknown, never
// guessed. docs/Viewing.md has the table for users.

#ifndef LIB_TARGET_FIGURES_COSTS_H
#define LIB_TARGET_FIGURES_COSTS_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace htp {

/// A number of elements or products that may be unknown. Overflowing an int64_t
/// makes it unknown.
class Amount {
public:
  Amount() = default;
  Amount(int64_t value) : value(value) {}
  Amount(std::optional<int64_t> value) : value(value) {}

  std::optional<int64_t> known() const { return value; }
  friend Amount operator*(Amount a, Amount b);
  friend Amount operator+(Amount a, Amount b);
  /// Rounded down; unknown if `b` is 0.
  friend Amount operator/(Amount a, Amount b);

private:
  std::optional<int64_t> value;
};

/// An operator with the types of its operands and results, taken from where the
/// values are defined; null for a missing value.
struct Operator {
  llvm::StringRef type, domain;
  llvm::SmallVector<mlir::Type> inputs, outputs;
  mlir::Operation *op; ///< holds the attributes
};

/// The number of multiply-adds of an operator; nothing if unknown.
std::optional<int64_t> multiplyAdds(const Operator &op);

/// The bits that ONNX stores for an element: 32 for f32, 8 for i1 (a bool).
std::optional<int64_t> elementBits(mlir::Type element);

/// The size of a tensor in bytes; two 4-bit elements share a byte.
std::optional<int64_t> bytesOf(mlir::Type type);

} // namespace htp

#endif // LIB_TARGET_FIGURES_COSTS_H
