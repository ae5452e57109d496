// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long run is doing, as one line that a person at a terminal sees and
// that is gone in the end.

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

/// Shows the current step and the seconds since the beginning, from the first
/// second on and once a second, where standard error is a terminal. Elsewhere
/// it does nothing.
class Progress {
public:
  explicit Progress(mlir::MLIRContext *context);
  ~Progress();

  void begin(llvm::StringRef what);
  /// The passes are steps of their own.
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
  /// Clears the line before a message comes.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> messages;
};

} // namespace htp

#endif // HTP_LIB_TOOLS_HTPOPT_PROGRESS_H
