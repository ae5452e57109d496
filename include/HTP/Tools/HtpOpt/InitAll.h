// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers all of HTP, for programs based on `optMain`.

#ifndef HTP_TOOLS_HTPOPT_INITALL_H
#define HTP_TOOLS_HTPOPT_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace htp {

/// Registers HTP's dialects, passes, outputs and options.
void registerAll(mlir::DialectRegistry &registry);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_INITALL_H
