// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removal of everything that HTP added to the IR.

#ifndef HTP_DIALECT_HTP_IR_STRIP_H
#define HTP_DIALECT_HTP_IR_STRIP_H

#include "mlir/IR/Operation.h"

namespace htp {

/// Removes HTP's attributes, scopes in locations and module tree from `root`
/// and everything in it.
void strip(mlir::Operation *root);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_STRIP_H
