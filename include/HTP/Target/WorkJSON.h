// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the work of an operation follows from, as JSON: the types of its values,
// and some of its attributes. Format: docs/formats/op-shapes.md.

#ifndef HTP_TARGET_WORKJSON_H
#define HTP_TARGET_WORKJSON_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/JSON.h"

namespace htp {

/// A type in a list: `"f32", [4, null]`; sizes that are not known are null, and
/// so are all of a value whose rank is not known.
void writeTensorType(mlir::TensorType type, llvm::json::OStream &json);

/// Whether an attribute says how much there is to do: an integer, a list of
/// them, or a text, and nothing that HTP keeps of the file.
bool isTelling(mlir::NamedAttribute named);

/// One of these.
void writeTelling(mlir::NamedAttribute named, llvm::json::OStream &json);

} // namespace htp

#endif // HTP_TARGET_WORKJSON_H
