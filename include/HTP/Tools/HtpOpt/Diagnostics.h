// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What htp-opt says to people.

#ifndef HTP_TOOLS_HTPOPT_DIAGNOSTICS_H
#define HTP_TOOLS_HTPOPT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <string>

namespace htp {

/// Prints diagnostics about a model that has no text to point at, one line
/// each: `model.onnx: error: at "/fc/MatMul": …`.
class ModelDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  ModelDiagnosticHandler(mlir::MLIRContext *context, llvm::StringRef path);

private:
  void print(mlir::Diagnostic &diagnostic);
  std::string path;
};

/// Drops what `--mlir-diagnostic-verbosity-level` and `--mlir-disable-
/// diagnostic-notes` do not want to see; the rest goes to the next handler.
class DiagnosticFilter : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticFilter(mlir::MLIRContext *context,
                   const mlir::MlirOptMainConfig &config);
};

/// Prints `error: <message>` for errors that no MLIR context knows about.
void reportError(const llvm::Twine &message);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_DIAGNOSTICS_H
