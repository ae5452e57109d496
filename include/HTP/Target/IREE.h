// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An outlined model as a folder that IREE compiles file by file: a layer once,
// however often the model calls it, and again only when its body changes.
//
//   LAYER.mlir    one for each layer: its body in the torch-onnx form that
//                 IREE's own importer writes (`torch.operator "onnx.MatMul"`)
//   main.mlir     everything outside of the layers, which it imports
//                 (`util.func private @LAYER.LAYER$async`) and IREE's runtime
//                 links. It knows weights as buffers alone, so it does not
//                 change with them; `set_weights` takes all of them once
//   weights.bin   the weights, raw
//   model.json    what there is: docs/formats/iree.md
//
// Locations are those of the model, with module scopes and lines of Python.

#ifndef HTP_TARGET_IREE_H
#define HTP_TARGET_IREE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Opens a file of the folder by its name; null where it cannot, which it has
/// then reported.
using OpenInFolder = llvm::function_ref<llvm::raw_ostream *(llvm::StringRef)>;

/// Writes the folder. The module stays as it is.
mlir::LogicalResult writeIREE(mlir::ModuleOp module, OpenInFolder open);

} // namespace htp

#endif // HTP_TARGET_IREE_H
