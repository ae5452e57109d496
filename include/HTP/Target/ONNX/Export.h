// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports a module of the ONNX dialect as an ONNX model.

#ifndef HTP_TARGET_ONNX_EXPORT_H
#define HTP_TARGET_ONNX_EXPORT_H

#include "HTP/Target/ONNX/MetadataSource.h"
#include "HTP/Target/ONNX/ModelWriter.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {

struct ExportOptions {
  /// Supplies metadata that is not in the IR; may be null.
  MetadataSource *metadata = nullptr;
};

/// Writes the module into `model`. Attributes of other dialects (`htp.*`) are
/// left out. `writer` refers to the bytes of resources, so the module must stay
/// alive until the model is written.
mlir::LogicalResult exportModel(mlir::ModuleOp module,
                                ::onnx::ModelProto &model, ModelWriter &writer,
                                const ExportOptions &options);

} // namespace htp

#endif // HTP_TARGET_ONNX_EXPORT_H
