// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-onnx: htp-opt for ONNX files only. Without MLIR's own dialects and passes
// it can link the few static archives of MLIR and LLVM that it needs, and
// starts ten times as fast as htp-opt, which loads (and relocates) all of
// libMLIR and libLLVM.

#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Tools/HtpOpt/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  htp::registerAll(registry);
  return htp::optMain(argc, argv, registry);
}
