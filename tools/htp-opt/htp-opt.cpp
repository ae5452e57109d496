// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-opt: MLIR's optimizer driver with the ONNX and HTP dialects.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
  htp::registerHTPTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "HTP optimizer driver\n", registry));
}
