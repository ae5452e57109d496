// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-onnx: htp-opt for ONNX files alone. It knows none of MLIR's own dialects
// and passes, links the few archives of MLIR and LLVM that are left, and so
// starts in a tenth of the time: the loader of htp-opt relocates all of both.

#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Tools/HtpOpt/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  htp::registerAll(registry);
  return htp::optMain(argc, argv, registry);
}
