// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an outlined model as a folder that IREE compiles file by file: each
// distinct layer only once, and again only if its body changes.
//
//   LAYER.mlir    one for each layer: its body in the torch-onnx form that
//                 IREE's own importer writes (`torch.operator "onnx.MatMul"`)
//   main.mlir     everything outside of the layers. It declares them
//                 (`util.func private @LAYER.LAYER$async`), and IREE's runtime
//                 links them. Weights are passed in as buffers (`set_weights`,
//                 called once), so this file does not depend on their values
//   weights.bin   the weights, raw
//   model.json    the index: docs/formats/iree.md
//
// Locations are those of the model, with module scopes and lines of Python.

#ifndef HTP_TARGET_IREE_H
#define HTP_TARGET_IREE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Opens a file of the folder by name. Reports its own errors and then returns
/// null.
using OpenInFolder = llvm::function_ref<llvm::raw_ostream *(llvm::StringRef)>;

/// Writes the folder. The module stays as it is.
mlir::LogicalResult writeIREE(mlir::ModuleOp module, OpenInFolder open);

} // namespace htp

#endif // HTP_TARGET_IREE_H
