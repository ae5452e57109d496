// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The DAG of every module as JSON. Format: docs/formats/dag.md.

#ifndef HTP_TARGET_DAG_H
#define HTP_TARGET_DAG_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

struct DAGOptions {
  /// Include modules that torch.nn defines; tags then contain their classes.
  bool torchNN = false;
};

/// Writes `{tag: {"nodes": […], "edges": [[a, b], …]}, …}`, parents first.
llvm::LogicalResult writeDAG(mlir::ModuleOp module, llvm::raw_ostream &os,
                             const DAGOptions &options = {});

} // namespace htp

#endif // HTP_TARGET_DAG_H
