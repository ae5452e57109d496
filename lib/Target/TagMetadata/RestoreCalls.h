// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file in which modules are functions has nodes that name a function. Here
// they become calls of it, as --htp-outline left them.

#ifndef HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H
#define HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// Nodes that call outlined functions become func.call, where they fit; a
/// warning at `loc` names those that do not.
void restoreCalls(mlir::ModuleOp module, mlir::Location loc);

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_RESTORECALLS_H
