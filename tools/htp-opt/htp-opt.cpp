// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-opt: MLIR's optimizer driver with the ONNX and HTP dialects, for ONNX
// files as well as MLIR.

#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Tools/HtpOpt/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  htp::registerAll(registry);
  htp::registerTransformDialectExtension(registry);
  return htp::optMain(argc, argv, registry);
}
