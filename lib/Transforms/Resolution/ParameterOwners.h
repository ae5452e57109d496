// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the module whose parameters a node reads. The node may still belong to
// another module (an attention may read the parameters of its projection), but
// a tag that says so is never certain.

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

  /// The one module that owns all parameters that `op` reads, directly or
  /// through copies; nothing if it reads none, or those of several modules.
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
