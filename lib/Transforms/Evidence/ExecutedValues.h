// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evidence from one run of the model and of its graph. A value of the graph
// that equals a tensor which a module call took or returned is a border of that
// call:
//
// - the node that makes what a call returned is that call's, or more precisely
//   that of the innermost call which returned it;
// - so are the nodes between what a call took and what it returned, unless they
//   are inside another call which it made. For this, all that it took must be
//   known, and the borders of all calls that it made.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_EXECUTEDVALUES_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_EXECUTEDVALUES_H

#include "Claim.h"

#include "HTP/Trace/Executed.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace htp {

class ExecutedValues {
public:
  /// Fails if `executed` has a module or a call that is not in `tree`, to whose
  /// modules the claims refer.
  static llvm::Expected<ExecutedValues> create(mlir::ModuleOp module,
                                               const Executed &executed,
                                               const ModuleTree &tree);

  std::optional<Claim> find(mlir::Operation *op) const {
    auto found = claims.find(op);
    return found == claims.end() ? std::nullopt : std::optional(found->second);
  }
  size_t size() const { return claims.size(); }

private:
  llvm::DenseMap<mlir::Operation *, Claim> claims;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_EXECUTEDVALUES_H
