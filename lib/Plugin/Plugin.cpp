// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libHTPPlugin.so: the HTP dialect, passes and pipelines for any tool that
// loads MLIR plugins. It does not bring the ONNX dialect: the passes work on
// whatever dialects the tool has.
//
//   mlir-opt --load-dialect-plugin=libHTPPlugin.so \
//            --load-pass-plugin=libHTPPlugin.so \
//            --pass-pipeline='builtin.module(htp-outline)' model.mlir

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

static constexpr char kName[] = "HTP";

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            registry->insert<htp::HTPDialect>();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LLVM_VERSION_STRING, [] {
            htp::registerHTPTransformsPasses();
            htp::registerHTPPipelines();
          }};
}
