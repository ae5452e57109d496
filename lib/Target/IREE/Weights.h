// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of the main function that are passed to IREE as buffers when
// the model is loaded. Compiled files do not contain them and so do not depend
// on them. Sizes, axes and other small numbers stay in the program, as IREE
// must see their values.

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
  /// Modifies the model: calls that pass a copy (`Identity`) of a constant then
  /// pass the constant itself.
  explicit Weights(const LayeredModel &model);

  /// The number of the weight that `value` is.
  std::optional<unsigned> find(mlir::Value value) const;
  size_t size() const { return weights.size(); }

  /// Whether a constant of the main function is a weight: it is known to be a
  /// parameter, looks like one, or is too large to be part of a program.
  static bool isWeight(mlir::Operation &constant);
  /// Whether this value is a weight: such a constant, a copy of one, or a
  /// transpose of one.
  static bool isStored(mlir::Value value);

  /// Whether all calls of `layer` pass a weight as this argument.
  bool takesWeight(const Layer &layer, unsigned argument) const;

  /// Whether all readers of `op` are stored as weights themselves, so that `op`
  /// need not be: a constant that is only transposed.
  bool isOnlyStored(mlir::Operation *op) const;

  /// Writes the contents of all weights, and their positions as JSON.
  mlir::LogicalResult write(llvm::raw_ostream &os,
                            llvm::json::OStream &json) const;

private:
  void add(mlir::Value constant);

  std::vector<mlir::Value> weights;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_WEIGHTS_H
