// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HTP knows of a model, for tools that do not know HTP and print some ops
// without their attributes (onnx-mlir: `onnx.Constant dense<…>` and no more).
// Builtin attributes only, in the two places that such tools keep:
//
// - the module tree is an attribute of the module, as text:
//     module attributes {htp.hierarchy = "{…}"}
// - which parameter a constant is lies in its location:
//     onnx.Constant dense<…> loc(fused<{htp.parameter = "fc.weight"}>["…"])
//
// --htp-attach-hierarchy takes them back. Scopes of nodes lie in locations
// anyhow (ScopeLoc.h).

#ifndef HTP_DIALECT_HTP_IR_PLAINNOTES_H
#define HTP_DIALECT_HTP_IR_PLAINNOTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace htp {

/// Of a builtin.module: its module tree as JSON, where it has no
/// `htp.hierarchy`.
inline constexpr llvm::StringLiteral kTreeTextAttr = "htp.hierarchy";

/// `loc` with the path of the parameter that its op is.
mlir::Location attachParameter(mlir::Location loc, mlir::StringAttr path);

/// The path that attachParameter has put into `loc`, or null.
mlir::StringAttr findParameterNote(mlir::Location loc);

/// `loc` as it was before.
mlir::Location stripParameterNote(mlir::Location loc);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_PLAINNOTES_H
