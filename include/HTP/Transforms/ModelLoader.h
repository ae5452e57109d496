// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How passes read a second model (a reference). They know no file formats, so
// the program that runs them registers a loader.

#ifndef HTP_TRANSFORMS_MODELLOADER_H
#define HTP_TRANSFORMS_MODELLOADER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace htp {

/// Reads a model of any format. Returns null after emitting an error.
using ModelLoader = std::function<mlir::OwningOpRef<mlir::ModuleOp>(
    llvm::StringRef path, mlir::MLIRContext *context)>;

/// To be called once, before passes run. The default reads MLIR text and
/// bytecode.
void setModelLoader(ModelLoader loader);

mlir::OwningOpRef<mlir::ModuleOp> loadModel(llvm::StringRef path,
                                            mlir::MLIRContext *context);

} // namespace htp

#endif // HTP_TRANSFORMS_MODELLOADER_H
