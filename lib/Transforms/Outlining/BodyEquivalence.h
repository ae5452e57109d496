// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether two function bodies compute the same: equal ops, attributes,
// types and operands. Names, tags and locations do not matter, nor does the
// order of arguments. With `looseTypes`, result types may differ if they are
// compatible: how much shape inference found out does not affect what is
// computed.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H
#define HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace htp {

/// Whether two tensors are equal, wherever their bytes are stored.
bool haveSameContents(mlir::ElementsAttr one, mlir::ElementsAttr other);

llvm::hash_code hashBody(mlir::Block &body, bool looseTypes);

/// For each argument of `a`, the argument of `b` that is used in its place;
/// nothing if the bodies differ. Two arguments of `a` may map to the same one
/// of `b`: a function of two weights can be called with one weight for both.
std::optional<llvm::SmallVector<unsigned>>
matchBodies(mlir::Block &a, mlir::Block &b, bool looseTypes);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_BODYEQUIVALENCE_H
