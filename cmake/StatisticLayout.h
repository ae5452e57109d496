// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included first in every file of a build with assertions on top of an LLVM
// without them: the members of llvm::Statistic depend on NDEBUG, and passes
// share theirs with libMLIR.

#if !defined(NDEBUG) && __has_include("llvm/ADT/Statistic.h")
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#endif
