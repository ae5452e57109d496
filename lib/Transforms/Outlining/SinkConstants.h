// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves constants that are equal in all calls of an outlined function into its
// body, where shape inference and constant folding can see them.
//
//   %c = "onnx.Constant"() <{value = dense<[0, -1]> : tensor<2xi64>}>
//   %0 = call @Layer(%x, %w0, %c)
//   %1 = call @Layer(%0, %w1, %c)
// becomes
//   %0 = call @Layer(%x, %w0) {htp.constants = array<i64: 0>}
//   %1 = call @Layer(%0, %w1) {htp.constants = array<i64: 0>}
//   func.func private @Layer(%x, %w) {
//     %c = "onnx.Constant"() <{value = …}> {htp.sunk = 0}
//
// Exporters write every shape, axis and bound as an initializer, often one for
// each use. So a call records which of them it passed: `htp.constants` lists,
// for each copy in the body, the original (`htp.constant = 0`, which stays in
// place). Calls inside a body refer to copies of the enclosing function in the
// same way; originals in that body itself have negative numbers
// (constantInBody).

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H
#define HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace htp {

/// `functions` are outlined functions, callees before callers. Constants of
/// more than `maxBytes` bytes, and parameters of modules, stay operands.
/// Returns the number of operands that became constants.
size_t sinkConstants(mlir::ModuleOp module,
                     llvm::ArrayRef<mlir::func::FuncOp> functions,
                     const ModuleTree &tree, size_t maxBytes);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H
