// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports an ONNX model as a module of the ONNX dialect.

#ifndef HTP_TARGET_ONNX_IMPORT_H
#define HTP_TARGET_ONNX_IMPORT_H

#include "HTP/Target/ONNX/MetadataSink.h"
#include "HTP/Target/ONNX/ModelFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace htp {

struct ImportOptions {
  /// Run ONNX shape inference for values without a type. If that fails the
  /// model is still imported, with a remark.
  bool inferShapes = true;
  /// Receives all metadata first; may be null.
  MetadataSink *metadata = nullptr;
};

/// Imports the model without loss: `exportModel` turns the module back into an
/// equal model. Returns null for an invalid model, after errors that name the
/// file and the node or tensor. The module's resources keep `file` alive.
mlir::OwningOpRef<mlir::ModuleOp> importModel(std::shared_ptr<ModelFile> file,
                                              mlir::MLIRContext *context,
                                              const ImportOptions &options);

} // namespace htp

#endif // HTP_TARGET_ONNX_IMPORT_H
