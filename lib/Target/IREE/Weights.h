// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of the main function that are no part of the program: IREE
// gets them as buffers when the model is loaded. So a file that is compiled
// does not change with them, and holds none of their bytes. Sizes, axes and
// other small numbers stay in the program: IREE must see their values.

#ifndef HTP_LIB_TARGET_IREE_WEIGHTS_H
#define HTP_LIB_TARGET_IREE_WEIGHTS_H

#include "Layers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace htp {

class Weights {
public:
  /// Calls that pass a copy (`Identity`) of a constant pass the constant from
  /// then on.
  explicit Weights(const LayeredModel &model);

  /// The number of the weight that `value` is.
  std::optional<unsigned> find(mlir::Value value) const;
  size_t size() const { return weights.size(); }

  /// Whether a constant that the main function reads is one: what a module
  /// learned, known as a parameter or by its looks, or too much to be written
  /// into a program.
  static bool isWeight(mlir::Operation &constant);
  /// Whether a call that gets this value gets a weight: such a constant, a copy
  /// of one, or one in another order of dimensions.
  static bool isStored(mlir::Value value);

  /// Whether all calls of `layer` pass a weight as this argument.
  bool takesWeight(const Layer &layer, unsigned argument) const;

  /// Whether all that reads `op` is stored as weights itself: a constant that
  /// is only transposed.
  bool isOnlyStored(mlir::Operation *op) const;

  /// The contents one after the other, and where each one is.
  mlir::LogicalResult write(llvm::raw_ostream &os,
                            llvm::json::OStream &json) const;

private:
  void add(mlir::Value constant);

  std::vector<mlir::Value> weights;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_WEIGHTS_H
