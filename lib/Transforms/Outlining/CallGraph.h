// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions call which: outlined modules, and the local functions of an
// ONNX model.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_CALLGRAPH_H
#define HTP_LIB_TRANSFORMS_OUTLINING_CALLGRAPH_H

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// Fails with an error where an outlined module or a local function of an ONNX
/// model calls itself, directly or through others. Other functions may.
mlir::LogicalResult checkRecursion(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_CALLGRAPH_H
