// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operators onnx-mlir has, and in which versions.

#ifndef HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H
#define HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace onnx {
class OpSchema;
} // namespace onnx

namespace htp {

/// An operation of onnx-mlir.
struct OnnxMlirOp {
  std::string name;               // "onnx.SoftmaxV11"
  const ::onnx::OpSchema *schema; // what it is made after
};

/// The operations that onnx-mlir has for the operator, those that suit the
/// opset version best first: the newest that is not newer, then the newer ones,
/// which may only add types.
llvm::SmallVector<OnnxMlirOp> findOnnxMlirOps(llvm::StringRef opType,
                                              llvm::StringRef domain,
                                              int64_t opsetVersion);

/// Whether onnx-mlir has an operation for the node, with a verifier that asks
/// for more than the schema does, which the node does not give.
bool isRefusedByOnnxMlir(mlir::Operation *op);

/// What to use instead of the node's result, where onnx-mlir does not take the
/// node and it is not needed: an optional that is none. Null otherwise.
mlir::Value foldForOnnxMlir(mlir::Operation *op, mlir::OpBuilder &builder);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H
