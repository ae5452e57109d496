// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What outlining keeps on functions and calls, as metadata.

#ifndef HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H
#define HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H

#include "HTP/Target/ONNX/MetadataSource.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// Adds the attributes of outlined functions to their metadata: `htp.module`,
/// and `htp.order` of the graph.
void embedFunctionRecords(mlir::ModuleOp module);

/// Whether `op` is a call that outlining left notes on; they are `htp.order`
/// and `htp.originals` of its metadata.
bool hasCallRecord(mlir::Operation *op);
void describeCallRecord(mlir::Operation *op, MetadataSource::AddFn add);

/// The inverse of both, with the attributes where they were, and the nodes that
/// call outlined functions as func.call again. The metadata stays.
void liftCallRecords(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_OUTLINEDTAGS_H
