// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tags of a model at a glance, for a terminal.

#ifndef HTP_TARGET_SUMMARY_H
#define HTP_TARGET_SUMMARY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes tables of the modules, coverage, evidence and confidence, in colour
/// where `os` is a terminal that has them.
llvm::LogicalResult writeSummary(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_SUMMARY_H
