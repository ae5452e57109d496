// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registered loader, which defaults to MLIR's parser.

#include "HTP/Transforms/ModelLoader.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

static htp::ModelLoader &theLoader() {
  static htp::ModelLoader loader = [](StringRef path, MLIRContext *context) {
    return parseSourceFile<mlir::ModuleOp>(path, context);
  };
  return loader;
}

void htp::setModelLoader(ModelLoader loader) {
  theLoader() = std::move(loader);
}

OwningOpRef<mlir::ModuleOp> htp::loadModel(StringRef path,
                                           MLIRContext *context) {
  return theLoader()(path, context);
}
