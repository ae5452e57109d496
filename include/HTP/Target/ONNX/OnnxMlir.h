// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a module to the strict form that onnx-mlir's dialect accepts.
//
// HTP's ONNX dialect is a superset of onnx-mlir's in most respects. The
// conversion removes what onnx-mlir does not have and respells what it spells
// differently:
//
// - nodes keep the attributes of the schema and `onnx_node_name`; arguments and
//   results keep `onnx.name` and `onnx.dim_params`; modules and functions keep
//   only string attributes of other dialects;
// - missing optional inputs and outputs at the end are made explicit, as
//   onnx.NoValue and as results of type `none`;
// - an operator of which onnx-mlir has several versions gets the version of the
//   model's opset in its name (onnx.SoftmaxV11);
// - what onnx-mlir does not support (other domains, newer operators, older
//   forms of an operator, some element types) becomes onnx.Custom;
// - constants become plain `onnx.Constant dense<…>`, with external data read
//   in.
//
// Locations stay, as onnx-mlir's passes preserve them.

#ifndef HTP_TARGET_ONNX_ONNXMLIR_H
#define HTP_TARGET_ONNX_ONNXMLIR_H

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace htp {

/// Reads external data. The bytes must stay valid until the module is written.
using ReadExternal = llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>(
    onnx::ExternalAttr)>;

/// Rewrites the module in place.
mlir::LogicalResult convertToOnnxMlir(mlir::ModuleOp module,
                                      ReadExternal readExternal);

} // namespace htp

#endif // HTP_TARGET_ONNX_ONNXMLIR_H
