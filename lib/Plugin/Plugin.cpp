// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libHTPPlugin.so: the HTP dialect, passes and pipelines for any tool that
// loads MLIR plugins, and the ONNX dialect, so that the tool can read htp-opt's
// output. The passes work on any dialect that the tool has, as does
// `transform.htp.match_module`, which is included.
//
//   mlir-opt tagged.mlir --load-dialect-plugin=libHTPPlugin.so \
//            --load-pass-plugin=libHTPPlugin.so \
//            --pass-pipeline='builtin.module(htp-outline)'
//
// Both flags are needed: dialects must be registered before the file is read,
// and only the first flag does that. Pass flags (`--htp-outline`) are not
// available, as flags are parsed before plugins are loaded.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

static constexpr char kName[] = "HTP";

/// The version of MLIR's plugin interface, or 0 if the program uses another
/// LLVM: it would accept the plugin, as the interface version rarely changes,
/// and then crash on the first call. The program's LLVM is loaded before the
/// plugin, so it is the one that the symbol lookup finds.
static uint32_t apiVersion() {
  using GetVersion = void (*)(unsigned *, unsigned *, unsigned *);
  auto getVersion =
      reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned major = 0, minor = 0, patch = 0;
  if (getVersion)
    getVersion(&major, &minor, &patch);
  if (!getVersion ||
      (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR))
    return MLIR_PLUGIN_API_VERSION;
  llvm::errs() << "error: the HTP plugin is built for LLVM "
               << LLVM_VERSION_STRING << ", this program is of LLVM " << major
               << '.' << minor << '.' << patch << '\n';
  return 0;
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {apiVersion(), kName, LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            registry->insert<htp::HTPDialect, htp::onnx::ONNXDialect>();
            htp::registerTransformDialectExtension(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {apiVersion(), kName, LLVM_VERSION_STRING, [] {
            htp::registerHTPTransformsPasses();
            htp::registerHTPPipelines();
          }};
}
