// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work on a second thread. Attributes are made by one of them only: MLIR's
// tables for several threads cost more than two threads gain.

#ifndef HTP_SUPPORT_PARALLEL_H
#define HTP_SUPPORT_PARALLEL_H

#include "llvm/Support/Parallel.h"

namespace htp {

/// Runs two tasks at the same time, or one after the other where
/// llvm::parallel::strategy allows one thread only. Attributes, diagnostics and
/// analyses belong into the second task, which stays on this thread.
inline void together(llvm::function_ref<void()> elsewhere,
                     llvm::function_ref<void()> here) {
  llvm::parallel::TaskGroup group;
  group.spawn([=] { elsewhere(); });
  here();
}

} // namespace htp

#endif // HTP_SUPPORT_PARALLEL_H
