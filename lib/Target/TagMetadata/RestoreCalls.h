// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In an outlined ONNX file, calls of functions are plain nodes. Turns them back
// into the func.call ops that --htp-outline made.

#ifndef HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H
#define HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// Turns nodes that call outlined functions into func.call. Nodes that do not
/// fit stay, with a warning at `loc`.
void restoreCalls(mlir::ModuleOp module, mlir::Location loc);

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H
