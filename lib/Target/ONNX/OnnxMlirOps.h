// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operators onnx-mlir has, and in which versions.

#ifndef HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H
#define HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
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

/// The operation that onnx-mlir's importer uses for the operator at this opset
/// version, if it has one.
std::optional<OnnxMlirOp> findOnnxMlirOp(llvm::StringRef opType,
                                         llvm::StringRef domain,
                                         int64_t opsetVersion);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ONNXMLIROPS_H
