// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How htp-opt prints diagnostics.

#ifndef HTP_TOOLS_HTPOPT_DIAGNOSTICS_H
#define HTP_TOOLS_HTPOPT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <string>

namespace htp {

/// Prints diagnostics about a binary model, which has no source text to show,
/// one line each: `model.onnx: error: at "/fc/MatMul": …`.
class ModelDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  ModelDiagnosticHandler(mlir::MLIRContext *context, llvm::StringRef path);

private:
  void print(mlir::Diagnostic &diagnostic);
  std::string path;
};

/// Drops diagnostics that --mlir-diagnostic-verbosity-level and
/// --mlir-disable-diagnostic-notes hide, and passes the rest to the next
/// handler.
class DiagnosticFilter : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticFilter(mlir::MLIRContext *context,
                   const mlir::MlirOptMainConfig &config);
};

/// Prints `error: <message>`, for errors outside of any MLIR context.
void reportError(const llvm::Twine &message);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_DIAGNOSTICS_H
