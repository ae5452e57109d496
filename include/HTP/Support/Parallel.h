// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs work on a second thread. Only one of the two may create attributes: the
// locking of a multithreaded MLIRContext would cost more than the second thread
// gains.

#ifndef HTP_SUPPORT_PARALLEL_H
#define HTP_SUPPORT_PARALLEL_H

#include "llvm/Support/Parallel.h"

namespace htp {

/// Runs two tasks concurrently, or one after the other if
/// llvm::parallel::strategy allows only one thread. Anything that creates
/// attributes, emits diagnostics or queries analyses belongs in `here`, which
/// runs on the calling thread.
inline void together(llvm::function_ref<void()> elsewhere,
                     llvm::function_ref<void()> here) {
  llvm::parallel::TaskGroup group;
  group.spawn([=] { elsewhere(); });
  here();
}

} // namespace htp

#endif // HTP_SUPPORT_PARALLEL_H
