// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polls the parent's process id. PR_SET_PDEATHSIG is not an option: Linux sends
// that signal when the thread that started this process exits, and Python
// starts programs from short-lived threads.

#include "HTP/Tools/HtpOpt/ParentWatch.h"

#include "llvm/Support/Signals.h"

#include <chrono>
#include <thread>
#include <unistd.h>

static constexpr std::chrono::milliseconds kInterval(200);

void htp::exitWithParent(int parent) {
  auto endIfAlone = [parent] {
    if (getppid() == parent)
      return;
    llvm::sys::RunInterruptHandlers();
    _exit(EXIT_FAILURE);
  };
  endIfAlone();
  std::thread([endIfAlone] {
    for (;;) {
      std::this_thread::sleep_for(kInterval);
      endIfAlone();
    }
  }).detach();
}
