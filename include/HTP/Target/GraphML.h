// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model as GraphML, for graph tools. Format: docs/formats/graphml.md.

#ifndef HTP_TARGET_GRAPHML_H
#define HTP_TARGET_GRAPHML_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes one nested graph per module, with its operations.
llvm::LogicalResult writeGraphML(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_GRAPHML_H
