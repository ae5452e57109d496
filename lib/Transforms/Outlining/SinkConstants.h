// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants that all calls of an outlined function pass alike move into its
// body, where shape inference and constant folding see them.
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
// An exporter writes every shape, axis and bound as an initializer, often one
// for each use. So a call remembers which of them it passed: `htp.constants`
// names the original (`htp.constant = 0`, which stays where it was) of each
// copy in the body. A call within a body names the copies of the function
// around it in the same way, as if they were still passed; originals that are
// in that body themselves have negative numbers (constantInBody).

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H
#define HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace htp {

/// `functions` are outlined ones, those that call others after these. Constants
/// of more bytes than `maxBytes`, and parameters of modules, stay operands.
/// Returns how many operands became constants.
size_t sinkConstants(mlir::ModuleOp module,
                     llvm::ArrayRef<mlir::func::FuncOp> functions,
                     const ModuleTree &tree, size_t maxBytes);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_SINKCONSTANTS_H
