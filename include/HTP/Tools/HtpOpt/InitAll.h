// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of HTP for a program that is run by `optMain`.

#ifndef HTP_TOOLS_HTPOPT_INITALL_H
#define HTP_TOOLS_HTPOPT_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace htp {

/// Registers HTP's dialects, passes, outputs and options.
void registerAll(mlir::DialectRegistry &registry);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_INITALL_H
