// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises the weights of a graph by sketches of their contents. This finds
// parameters that were rounded, quantized or packed, so that no contents are
// exactly equal.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_SKETCHMATCHES_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_SKETCHMATCHES_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Weights/SketchIndex.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace htp {

/// A reader of the weight that `constant` stores. It decodes the weight in the
/// same way as the operators that read it: DequantizeLinear, or an operator on
/// packed weights. Null if the constant is no weight, or cannot be read
/// completely. Warns if the file is wrong.
std::unique_ptr<WeightReader> weightReader(mlir::Value constant);

/// The matches of one graph, computed on demand.
class SketchMatches {
public:
  /// The parameters of a tree, numbered module by module (ParameterIndex.h).
  explicit SketchMatches(const ModuleTree &tree);
  explicit SketchMatches(SketchIndex index) : index(std::move(index)) {}

  /// Whether there is anything to compare with.
  bool empty() const { return index.empty(); }

  /// The parameters that the weight holds, in order; none if it is not
  /// recognised.
  llvm::ArrayRef<SketchMatch> find(mlir::Value constant);

  /// How many weights could be compared, and how many of them were recognised.
  size_t compared() const { return numCompared; }
  size_t recognised() const { return numRecognised; }

private:
  SketchIndex index;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<SketchMatch, 1>> found;
  size_t numCompared = 0, numRecognised = 0;
};

/// The matches with the parameters of a tree. Passes share this analysis, so
/// that every weight is read only once.
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
