// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress line: a thread that redraws it, and a handler that clears it
// before diagnostics.

#include "Progress.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;
using namespace htp;

namespace {
class PassFollower : public PassInstrumentation {
public:
  explicit PassFollower(Progress &progress) : progress(progress) {}
  void runBeforePass(Pass *pass, Operation *) override {
    if (StringRef name = pass->getArgument(); !name.empty())
      progress.begin(("--" + name).str());
  }

private:
  Progress &progress;
};
} // namespace

Progress::Progress(MLIRContext *context)
    : start(std::chrono::steady_clock::now()) {
  if (!sys::Process::StandardErrIsDisplayed())
    return;
  messages =
      std::make_unique<ScopedDiagnosticHandler>(context, [&](Diagnostic &) {
        std::lock_guard<std::mutex> lock(mutex);
        clear();
        return failure(); // let the next handler print it
      });
  ticker = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex);
    while (!over.wait_for(lock, std::chrono::seconds(1),
                          [this] { return isOver; }))
      show();
    clear();
  });
}

Progress::~Progress() {
  if (!ticker.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  over.notify_one();
  ticker.join();
}

void Progress::begin(StringRef what) {
  std::lock_guard<std::mutex> lock(mutex);
  step = what.str();
}

void Progress::follow(PassManager &passes) {
  if (ticker.joinable())
    passes.addInstrumentation(std::make_unique<PassFollower>(*this));
}

/// Redraws the line in place.
void Progress::show() {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::steady_clock::now() - start);
  errs() << "\r\033[K" << step << " … " << seconds.count() << " s";
  isShown = true;
}

void Progress::clear() {
  if (isShown)
    errs() << "\r\033[K";
  isShown = false;
}
