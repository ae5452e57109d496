// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the module whose parameters a node reads. A module may read another
// one's parameters (an attention those of its projection), but then its tag is
// never certain.

#ifndef HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H
#define HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace htp {

class ParameterOwners {
public:
  explicit ParameterOwners(const ModuleTree &tree);

  /// The one module that owns all parameters that `op` reads, itself or
  /// through copies; nothing where it reads none, or those of several.
  std::optional<ModuleId> of(mlir::Operation *op) const;

private:
  std::optional<ModuleId> ownerOf(mlir::Value value) const;

  const ModuleTree &tree;
  /// Parameters that several modules share, by path.
  llvm::StringSet<> shared;
  /// How many parameters have these contents.
  llvm::DenseMap<uint64_t, unsigned> equal;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H
