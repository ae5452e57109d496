// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which types a file will state for the values of an outlined function.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_STATEDTYPES_H
#define HTP_LIB_TRANSFORMS_OUTLINING_STATEDTYPES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace htp {

/// A function states the types of its own values. A subgraph of one of its
/// nodes (a branch, the body of a loop) states what it stated before, and
/// nobody infers the others: what a reader of the flat model infers is not
/// known inside of a function.
class StatedTypes {
public:
  /// Whether `original` has a type that a file with `body` in its place would
  /// not know any more.
  bool isLost(mlir::Operation *body, mlir::Operation *original);

private:
  bool isStated(mlir::OpResult result);

  /// The values that a subgraph states types of, by its description.
  llvm::DenseMap<mlir::Attribute, llvm::DenseSet<mlir::Attribute>> known;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_STATEDTYPES_H
