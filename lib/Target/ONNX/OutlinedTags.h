// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What outlining keeps on functions and calls, as metadata.

#ifndef HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H
#define HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// Turns the attributes of outlined functions and of their calls into metadata:
/// `htp.module` of a function, `htp.order` and `htp.originals` of a call,
/// `htp.order` of the graph.
void embedCallRecords(mlir::ModuleOp module);

/// The inverse, with the attributes where they were, and the nodes that call
/// outlined functions as func.call again. The metadata stays.
void liftCallRecords(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H
