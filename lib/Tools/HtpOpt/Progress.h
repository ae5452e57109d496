// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A progress line for long runs at a terminal, which is cleared in the end.

#ifndef HTP_LIB_TOOLS_HTPOPT_PROGRESS_H
#define HTP_LIB_TOOLS_HTPOPT_PROGRESS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace htp {

/// Shows the current step and the elapsed seconds, updated once per second, if
/// standard error is a terminal. Otherwise does nothing.
class Progress {
public:
  explicit Progress(mlir::MLIRContext *context);
  ~Progress();

  void begin(llvm::StringRef what);
  /// Makes each pass a step of its own.
  void follow(mlir::PassManager &passes);

private:
  void show();
  void clear();

  const std::chrono::steady_clock::time_point start;
  std::mutex mutex;
  std::condition_variable over;
  std::string step;
  bool isOver = false, isShown = false;
  std::thread ticker;
  /// Clears the line before a diagnostic is printed.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> messages;
};

} // namespace htp

#endif // HTP_LIB_TOOLS_HTPOPT_PROGRESS_H
