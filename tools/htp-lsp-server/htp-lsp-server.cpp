// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-lsp-server: MLIR's language server with the ONNX and HTP dialects.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
  htp::registerTransformDialectExtension(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
