// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operation costs: multiply-adds by a table of operators, and bytes by
// the sizes of tensors.
//
// Only products count, as in most tables of models: convolutions, matrix
// products, attention, recurrent cells. Everything else moves or maps elements
// and counts 0. What is not known is nothing, never a guess: an operator that
// no table has, or one whose sizes the model leaves open. docs/Viewing.md has
// the table for readers.

#ifndef LIB_TARGET_FIGURES_COSTS_H
#define LIB_TARGET_FIGURES_COSTS_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace htp {

/// A number of elements or products that may not be known. One that is larger
/// than an int64_t is not known, either.
class Amount {
public:
  Amount() = default;
  Amount(int64_t value) : value(value) {}
  Amount(std::optional<int64_t> value) : value(value) {}

  std::optional<int64_t> known() const { return value; }
  friend Amount operator*(Amount a, Amount b);
  friend Amount operator+(Amount a, Amount b);
  /// Rounded down; not known where `b` is 0.
  friend Amount operator/(Amount a, Amount b);

private:
  std::optional<int64_t> value;
};

/// An operator with what is known of its operands. Types are those of the
/// values where they are made: null for a missing one.
struct Operator {
  llvm::StringRef type, domain;
  llvm::SmallVector<mlir::Type> inputs, outputs;
  mlir::Operation *op; ///< that has the attributes
};

/// How many multiply-adds an operator does.
std::optional<int64_t> multiplyAdds(const Operator &op);

/// Bits of an element as ONNX stores it: f32: 32; i1 (a bool): 8.
std::optional<int64_t> elementBits(mlir::Type element);

/// Bytes of a tensor: whole ones for an element, two elements of 4 bits in one.
std::optional<int64_t> bytesOf(mlir::Type type);

} // namespace htp

#endif // LIB_TARGET_FIGURES_COSTS_H
