// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the module whose parameters a node reads. The node may still belong to
// another module: an attention may read the parameters of its projection. If a
// trace saw that, it is certain; otherwise it is not.

#ifndef HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H
#define HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace htp {

class ParameterOwners {
public:
  ParameterOwners(mlir::ModuleOp root, const ModuleTree &tree);

  /// The one module that owns all parameters that `op` reads, directly or
  /// through copies, if that contradicts that the node is of `module`. Nothing
  /// if it does not: the node reads no parameters, those of several modules,
  /// those of `module`, or some that a trace saw `module` read; or it may be
  /// fused, and do what the owner does as well.
  std::optional<ModuleId> contradicting(mlir::Operation *op,
                                        ModuleId module) const;

private:
  struct Read {
    ModuleId owner;
    const Parameter *parameter;
    bool byName; ///< or only recognised by its contents
    llvm::SmallVector<ModuleId, 1> readers; ///< if it is not only the owner
  };
  /// Whether this may be a parameter of `module` that the graph lacks:
  /// exporters store equal parameters once, under the name of one of them.
  bool standsFor(const Read &read, ModuleId module) const;
  /// Whether it is known that nodes of `module`, which is not the owner, read
  /// this.
  bool isReadBy(const Read &read, ModuleId module) const;
  std::optional<Read> read(mlir::Value value) const;

  const ModuleTree &tree;
  /// Whether any module but the root is called.
  bool knowsCalls = false;
  /// Parameters that several modules share, by path.
  llvm::StringSet<> shared;
  /// How many parameters have these contents.
  llvm::DenseMap<uint64_t, unsigned> equal;
  /// The parameters in the graph, by path.
  llvm::StringSet<> present;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_RESOLUTION_PARAMETEROWNERS_H
