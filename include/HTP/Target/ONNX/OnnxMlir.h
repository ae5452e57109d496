// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strict form: what onnx-mlir's dialect accepts.
//
// HTP's dialect says more than onnx-mlir's and spells the rest the same way.
// This takes the rest away, and says it as onnx-mlir does where the two differ:
//
// - attributes of nodes are those of the schema and `onnx_node_name`; of
// arguments
//   and results `onnx.name` and `onnx.dim_params`; a module and a function have
//   none of ONNX's, and of others' those that are strings;
// - optional inputs and outputs that are missing at the end are there, as
//   onnx.NoValue and as results of type `none`;
// - an operator of which onnx-mlir has several versions has the one for the
// model's
//   opset in its name (onnx.SoftmaxV11);
// - what onnx-mlir does not have (other domains, newer operators, older forms
// of an
//   operator, element types that it does not take there) is onnx.Custom;
// - constants are `onnx.Constant dense<…>` and nothing else; external data is
// read.
//
// Locations stay: they are what onnx-mlir's passes keep.

#ifndef HTP_TARGET_ONNX_ONNXMLIR_H
#define HTP_TARGET_ONNX_ONNXMLIR_H

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace htp {

/// The bytes of external data; they live until the module is written.
using ReadExternal = llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>(
    onnx::ExternalAttr)>;

/// Rewrites the module in place.
mlir::LogicalResult convertToOnnxMlir(mlir::ModuleOp module,
                                      ReadExternal readExternal);

} // namespace htp

#endif // HTP_TARGET_ONNX_ONNXMLIR_H
