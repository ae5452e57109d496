// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries the module tree and parameter names through tools that do not know
// HTP and drop attributes of some ops (onnx-mlir prints `onnx.Constant
// dense<…>` and nothing else). Uses builtin attributes only, in the two places
// that such tools keep:
//
// - the module tree is an attribute of the module, as text:
//     module attributes {htp.hierarchy = "{…}"}
// - the parameter that a constant holds is noted in its location:
//     onnx.Constant dense<…> loc(fused<{htp.parameter = "fc.weight"}>["…"])
//
// --htp-attach-hierarchy reads them back. Scopes of nodes are in locations
// anyway (ScopeLoc.h).

#ifndef HTP_DIALECT_HTP_IR_PLAINNOTES_H
#define HTP_DIALECT_HTP_IR_PLAINNOTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace htp {

/// On a builtin.module without an `htp.hierarchy`: its module tree as JSON.
inline constexpr llvm::StringLiteral kTreeTextAttr = "htp.hierarchy";

/// `loc` with a note of the parameter's path.
mlir::Location attachParameter(mlir::Location loc, mlir::StringAttr path);

/// The path that attachParameter put into `loc`, or null.
mlir::StringAttr findParameterNote(mlir::Location loc);

/// `loc` without the note.
mlir::Location stripParameterNote(mlir::Location loc);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_PLAINNOTES_H
