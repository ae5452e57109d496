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
  const ::onnx::OpSchema *schema; // the schema it follows
};

/// The operations that onnx-mlir has for the operator, best match for the opset
/// version first: the newest one that is not newer, then newer ones, which
/// often only add types.
llvm::SmallVector<OnnxMlirOp> findOnnxMlirOps(llvm::StringRef opType,
                                              llvm::StringRef domain,
                                              int64_t opsetVersion);

/// Whether the verifier of onnx-mlir's operation rejects the node although it
/// is valid by its schema.
bool isRefusedByOnnxMlir(mlir::Operation *op);

/// A replacement for the result of a node that onnx-mlir rejects but that is
/// not needed (an empty optional); null otherwise.
mlir::Value foldForOnnxMlir(mlir::Operation *op, mlir::OpBuilder &builder);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H
