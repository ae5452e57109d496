// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sources of a model's module tree.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_HIERARCHYSOURCE_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_HIERARCHYSOURCE_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// The sources of a tree, the best first.
enum class HierarchySource {
  Trace,     ///< a trace of the PyTorch model
  Hierarchy, ///< `htp.hierarchy`
  Metadata,  ///< what the torch.export-based exporter notes on nodes
  Names,     ///< scopes in names, names of parameters
  Locations  ///< scopes in locations
};

/// The tree that the model contains in `source`; nothing if it contains none
/// there. (A trace is not part of the model.)
std::optional<ModuleTree> findTree(mlir::ModuleOp module,
                                   HierarchySource source);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_HIERARCHYSOURCE_H
