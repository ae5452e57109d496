// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR → ONNX.

#ifndef HTP_TARGET_ONNX_EXPORT_H
#define HTP_TARGET_ONNX_EXPORT_H

#include "HTP/Target/ONNX/MetadataSource.h"
#include "HTP/Target/ONNX/ModelWriter.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {

struct ExportOptions {
  /// Asked for the metadata of nodes and initializers; may be null.
  MetadataSource *metadata = nullptr;
};

/// Writes the module into `model`. Attributes of other dialects (`htp.*`) are
/// left out. Bytes of resources are handed to `writer` and must stay alive,
/// with the module, until the model is written.
mlir::LogicalResult exportModel(mlir::ModuleOp module,
                                ::onnx::ModelProto &model, ModelWriter &writer,
                                const ExportOptions &options);

} // namespace htp

#endif // HTP_TARGET_ONNX_EXPORT_H
