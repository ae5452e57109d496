// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the parameters of a program among the weights of a graph by their
// sketches (Sketch.h): a weight may be a parameter as it is or transposed,
// several parameters one after the other, or a part of one.

#ifndef HTP_WEIGHTS_SKETCHINDEX_H
#define HTP_WEIGHTS_SKETCHINDEX_H

#include "HTP/Weights/Sketch.h"
#include "HTP/Weights/WeightReader.h"

#include "llvm/ADT/DenseMap.h"

namespace htp {

/// A match between a weight, or some of its rows, and a parameter.
struct SketchMatch {
  /// Several if they are equal, as in layers that were initialized as copies.
  llvm::SmallVector<int32_t, 1> parameters;
  int64_t rows = 0; ///< of the parameter
  /// The parameter is only a part of the weight: there are rows before or after
  /// it.
  bool isPart = false;
  /// The weight is only some rows of the parameter.
  bool isCut = false;
};

/// The sketches of a weight as stored and, for a matrix, transposed.
llvm::SmallVector<Sketch, 2> sketchBothWays(const SketchLayout &layout,
                                            const WeightReader &weight);

class SketchIndex {
public:
  /// A parameter may have several sketches: one for each orientation.
  void add(int32_t parameter, Sketch sketch);

  bool empty() const { return byColumns.empty(); }

  /// Whether a tensor of this shape could be, contain, or be part of any
  /// parameter. If not, its contents need not be read.
  bool mayHold(llvm::ArrayRef<int64_t> shape) const;

  /// The parameters that a weight consists of, in row order.
  llvm::SmallVector<SketchMatch, 1> find(const WeightReader &weight) const;

private:
  struct Entry {
    int32_t parameter;
    Sketch sketch;
  };
  using Group = std::vector<Entry>;

  const Group *group(int64_t columns, bool vectors) const;
  /// The number of seeds needed to match a tensor with all parameters that it
  /// may be, contain, or be part of.
  unsigned seedsFor(const SketchLayout &layout) const;
  /// Whether some parameter has this layout.
  bool holds(const SketchLayout &layout) const;
  std::optional<SketchMatch>
  nearest(const RowSketch &tensor, int64_t offset,
          llvm::function_ref<bool(const SketchLayout &)> fits) const;
  llvm::SmallVector<SketchMatch, 1> findIn(const RowSketch &tensor) const;
  llvm::SmallVector<SketchMatch, 1> findParts(const RowSketch &tensor) const;
  std::optional<SketchMatch> findSame(const RowSketch &tensor) const;
  std::optional<SketchMatch> findWhole(const RowSketch &tensor) const;
  llvm::SmallVector<SketchMatch, 1>
  findVector(int64_t columns, const WeightReader &weight) const;

  llvm::DenseMap<int64_t, Group> byColumns; ///< matrices
  llvm::DenseMap<int64_t, Group> vectors;   ///< by their length
};

} // namespace htp

#endif // HTP_WEIGHTS_SKETCHINDEX_H
