// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A summary of a model's tags for a terminal.

#ifndef HTP_TARGET_SUMMARY_H
#define HTP_TARGET_SUMMARY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes tables of modules, coverage, evidence and confidence, in colour if
/// `os` is a terminal that supports it.
llvm::LogicalResult writeSummary(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_SUMMARY_H
