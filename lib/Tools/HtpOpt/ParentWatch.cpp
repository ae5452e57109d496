// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parent is asked for every now and then. Linux could send a signal
// (PR_SET_PDEATHSIG), but does so when the thread that started this process
// ends, and Python starts programs from threads that end long before it does.

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
