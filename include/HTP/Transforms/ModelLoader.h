// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes know no file formats. Where one needs a second model, the program
// that runs it says how files are read.

#ifndef HTP_TRANSFORMS_MODELLOADER_H
#define HTP_TRANSFORMS_MODELLOADER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace htp {

/// Reads a model of any format. Null, with an error on the context, where it
/// cannot.
using ModelLoader = std::function<mlir::OwningOpRef<mlir::ModuleOp>(
    llvm::StringRef path, mlir::MLIRContext *context)>;

/// Called once, before passes run. Without it, MLIR text and bytecode are read.
void setModelLoader(ModelLoader loader);

mlir::OwningOpRef<mlir::ModuleOp> loadModel(llvm::StringRef path,
                                            mlir::MLIRContext *context);

} // namespace htp

#endif // HTP_TRANSFORMS_MODELLOADER_H
