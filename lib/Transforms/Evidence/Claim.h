// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one source of evidence says about a node.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_CLAIM_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_CLAIM_H

#include "Ground.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Hierarchy/Scopes.h"

namespace htp {

struct Claim {
  ModuleCall where;
  Ground ground;
  llvm::StringRef reason; ///< a string literal
};

/// Whether `op` is a plain convolution, not an optimizer's op that does more.
inline bool isConvolution(mlir::Operation *op) {
  llvm::StringRef type = getOpType(op);
  return !isForeign(op) && (type == "Conv" || type == "ConvTranspose");
}

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_CLAIM_H
