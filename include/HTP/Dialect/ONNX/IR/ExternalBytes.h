// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives passes the bytes behind `#onnx.external`. The attribute names a file in
// the model's folder; only whoever read the model knows the folder.

#ifndef HTP_DIALECT_ONNX_IR_EXTERNALBYTES_H
#define HTP_DIALECT_ONNX_IR_EXTERNALBYTES_H

#include "HTP/Support/ExternalData.h"

#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace htp::onnx {

class ONNXDialect;

/// Sets where the data files of the model in this context are. Without this
/// call, or if a file cannot be read, the bytes of external tensors are
/// unavailable.
void setExternalData(mlir::MLIRContext &context,
                     std::shared_ptr<ExternalData> files);

/// Called once, when the dialect is loaded.
void addExternalBytesInterface(ONNXDialect &dialect);

} // namespace htp::onnx

#endif // HTP_DIALECT_ONNX_IR_EXTERNALBYTES_H
