// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the costs of a model are computed from, as JSON: the element type and
// the sizes of every value, and the attributes that say how much work an
// operation does. Format: docs/formats/op-shapes.md.

#ifndef HTP_TARGET_OPSHAPES_H
#define HTP_TARGET_OPSHAPES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes the types of all values and the integers and texts among the
/// attributes of all operations, under the names that --op-metadata has.
llvm::LogicalResult writeOpShapes(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_OPSHAPES_H
