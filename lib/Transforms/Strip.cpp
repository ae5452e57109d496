// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-strip: removes everything that HTP added.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace htp {
#define GEN_PASS_DEF_HTPSTRIP
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {
struct Strip : htp::impl::HTPStripBase<Strip> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (isa<HierarchyOp>(op)) {
        op->erase();
        return WalkResult::skip();
      }
      for (NamedAttribute attribute :
           llvm::to_vector(op->getDiscardableAttrs()))
        if (attribute.getName().strref().starts_with("htp."))
          op->removeDiscardableAttr(attribute.getName());
      op->setLoc(stripScopes(op->getLoc()));
      return WalkResult::advance();
    });
  }
};
} // namespace
