// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef HTP_TRANSFORMS_PASSES_H
#define HTP_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace htp {

#define GEN_PASS_DECL
#include "HTP/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "HTP/Transforms/Passes.h.inc"

} // namespace htp

#endif // HTP_TRANSFORMS_PASSES_H
