// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the module tree of lib/Hierarchy and the `htp.hierarchy` in the IR.

#ifndef HTP_DIALECT_HTP_IR_HIERARCHY_H
#define HTP_DIALECT_HTP_IR_HIERARCHY_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// The `htp.hierarchy` directly inside `module`, or null.
HierarchyOp findHierarchy(mlir::ModuleOp module);

/// Whether written tags name the classes of torch.nn too.
bool keepsTorchNN(mlir::ModuleOp module);
void keepTorchNN(HierarchyOp hierarchy, bool keep);

/// The tree that `op` holds. It is well formed: `op` has been verified.
ModuleTree fromIR(HierarchyOp op);

/// The tree of `module`; only a root where there is no `htp.hierarchy`.
ModuleTree fromIR(mlir::ModuleOp module);

/// The tree of a module as an analysis, for passes that only read it. A pass
/// that leaves `htp.hierarchy` alone preserves it.
struct HierarchyAnalysis {
  explicit HierarchyAnalysis(mlir::Operation *module)
      : tree(fromIR(llvm::cast<mlir::ModuleOp>(module))) {}
  const ModuleTree tree;
};

/// Writes `tree` as the first operation of `module`, in place of a hierarchy
/// that is already there.
HierarchyOp toIR(const ModuleTree &tree, mlir::ModuleOp module);

/// The same in two steps, for who has something else to do meanwhile.
mlir::OwningOpRef<HierarchyOp> toIR(const ModuleTree &tree,
                                    mlir::MLIRContext *context);
void setHierarchy(mlir::ModuleOp module,
                  mlir::OwningOpRef<HierarchyOp> hierarchy);

/// The type of a parameter, and back. A dtype that MLIR has no type for is
/// `none`, and the shape is then lost.
mlir::Type typeOf(const Parameter &parameter, mlir::MLIRContext *context);
llvm::StringRef dtypeOf(mlir::Type elementType);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_HIERARCHY_H
