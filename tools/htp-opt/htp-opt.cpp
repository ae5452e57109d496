// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-opt: MLIR's optimizer driver with the ONNX and HTP dialects, for ONNX
// files as well as MLIR.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

/// One line for each format that can be written beside the model.
static void registerSideOutputs() {}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
  htp::registerHTPTransformsPasses();
  registerSideOutputs();
  return htp::optMain(argc, argv, registry);
}
