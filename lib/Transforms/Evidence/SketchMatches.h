// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the parameters in the weights of a graph by sketches: for weights that
// were rounded, quantized or packed, so that they equal none exactly.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_SKETCHMATCHES_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_SKETCHMATCHES_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Weights/SketchIndex.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace htp {

/// Reads the weight that `constant` stores, in the way in which the operators
/// do that read it: through DequantizeLinear, or as an operator on packed
/// weights unpacks it. Null where it is none, or is not whole; where the file
/// is wrong a warning says so.
std::unique_ptr<WeightReader> weightReader(mlir::Value constant);

/// The matches of one graph, computed on demand.
class SketchMatches {
public:
  /// The parameters of a tree, numbered module by module (ParameterIndex.h).
  explicit SketchMatches(const ModuleTree &tree);
  explicit SketchMatches(SketchIndex index) : index(std::move(index)) {}

  /// Whether there is anything to compare with.
  bool empty() const { return index.empty(); }

  /// The parameters that the weight holds, in its order; none where it is not
  /// recognised.
  llvm::ArrayRef<SketchMatch> find(mlir::Value constant);

  /// The number of weights that could be compared, and of those that were
  /// recognised.
  size_t compared() const { return numCompared; }
  size_t recognised() const { return numRecognised; }

private:
  SketchIndex index;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<SketchMatch, 1>> found;
  size_t numCompared = 0, numRecognised = 0;
};

/// The matches with the parameters of a tree, which passes share: every weight
/// is read once.
class SketchAnalysis {
public:
  explicit SketchAnalysis(mlir::Operation *) {}

  SketchMatches &with(const ModuleTree &tree) {
    if (known != &tree || !matches) {
      matches = std::make_unique<SketchMatches>(tree);
      known = &tree;
    }
    return *matches;
  }

private:
  const ModuleTree *known = nullptr;
  std::unique_ptr<SketchMatches> matches;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_SKETCHMATCHES_H
