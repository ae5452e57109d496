// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX → MLIR.

#ifndef HTP_TARGET_ONNX_IMPORT_H
#define HTP_TARGET_ONNX_IMPORT_H

#include "HTP/Target/ONNX/MetadataSink.h"
#include "HTP/Target/ONNX/ModelFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace htp {

struct ImportOptions {
  /// Run ONNX shape inference for values that the model gives no type. A model
  /// on which it fails is imported all the same, with a remark.
  bool inferShapes = true;
  /// Shown all metadata; may be null.
  MetadataSink *metadata = nullptr;
};

/// The model as a module of the ONNX dialect, from which `exportModel` makes an
/// equal one. Null, with errors that name the file and the node or tensor, for
/// a model that is wrong. The module's resources keep `file` alive.
mlir::OwningOpRef<mlir::ModuleOp> importModel(std::shared_ptr<ModelFile> file,
                                              mlir::MLIRContext *context,
                                              const ImportOptions &options);

} // namespace htp

#endif // HTP_TARGET_ONNX_IMPORT_H
