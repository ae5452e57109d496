// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-strip: see Passes.td.

#include "HTP/Dialect/HTP/IR/Strip.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {
#define GEN_PASS_DEF_HTPSTRIP
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {
struct Strip : htp::impl::HTPStripBase<Strip> {
  void runOnOperation() override { strip(getOperation()); }
};
} // namespace
