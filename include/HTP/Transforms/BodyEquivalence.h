// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When two function bodies compute the same: equal ops, attributes, types and
// wiring. Names, tags and locations do not matter.

#ifndef HTP_TRANSFORMS_BODYEQUIVALENCE_H
#define HTP_TRANSFORMS_BODYEQUIVALENCE_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/Hashing.h"

namespace htp {

llvm::hash_code hashBody(mlir::Block &body);
bool equalBodies(mlir::Block &a, mlir::Block &b);

} // namespace htp

#endif // HTP_TRANSFORMS_BODYEQUIVALENCE_H
