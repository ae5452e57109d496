// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations and registration of HTP's passes, generated from Passes.td.

#ifndef HTP_TRANSFORMS_PASSES_H
#define HTP_TRANSFORMS_PASSES_H

#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace htp {

/// What --htp-outline turns a module into.
enum class OutlineForm { Function, Region };

#define GEN_PASS_DECL
#include "HTP/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "HTP/Transforms/Passes.h.inc"

} // namespace htp

#endif // HTP_TRANSFORMS_PASSES_H
