// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How debug output (LDBG; see "Debug output" in CONTRIBUTING.md) names nodes.

#ifndef HTP_LIB_TRANSFORMS_DEBUGOUTPUT_H
#define HTP_LIB_TRANSFORMS_DEBUGOUTPUT_H

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "llvm/Support/DebugLog.h"

namespace htp {

/// Prints a node as "'/fc/MatMul' (MatMul)", by its first result if it has no
/// name.
struct DebugNode {
  mlir::Operation *op;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, DebugNode node) {
  llvm::StringRef name = getNodeName(node.op);
  if (name.empty() && node.op->getNumResults())
    name = getValueName(node.op->getResult(0));
  return os << "'" << name << "' (" << getOpType(node.op) << ")";
}

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_DEBUGOUTPUT_H
