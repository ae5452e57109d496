// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When two function bodies compute the same: equal ops, attributes, types and
// wiring. Names, tags and locations do not matter, nor does the order of the
// arguments. Where `looseTypes`, a result whose shape is known better in one
// body than in the other is still the same: what shape inference found out says
// nothing about what is computed.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H
#define HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace htp {

/// Whether two tensors are equal, wherever their bytes are.
bool haveSameContents(mlir::ElementsAttr one, mlir::ElementsAttr other);

llvm::hash_code hashBody(mlir::Block &body, bool looseTypes);

/// For each argument of `a` the argument of `b` that is read in its place, or
/// nothing where the bodies differ. Two arguments of `a` may find the same: a
/// function of two weights can be called with one weight for both.
std::optional<llvm::SmallVector<unsigned>>
matchBodies(mlir::Block &a, mlir::Block &b, bool looseTypes);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H
