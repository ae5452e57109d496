// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// __libc_single_threaded for systems whose glibc is older than 2.32. libstdc++
// asks it whether counting references needs no atomic instructions; "it does
// need them" is always right. Only in portable programs (HTP_PORTABLE).

char __libc_single_threaded = 0;
