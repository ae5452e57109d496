// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that depend on the semantics of ONNX operators.

#ifndef HTP_DIALECT_ONNX_TRANSFORMS_PASSES_H
#define HTP_DIALECT_ONNX_TRANSFORMS_PASSES_H

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/Pass/Pass.h"

namespace htp {

#define GEN_PASS_DECL
#include "HTP/Dialect/ONNX/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "HTP/Dialect/ONNX/Transforms/Passes.h.inc"

} // namespace htp

#endif // HTP_DIALECT_ONNX_TRANSFORMS_PASSES_H
