// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arc4random for systems whose glibc is older than 2.36, as LLVM uses it: names
// of temporary files. Only in portable programs (HTP_PORTABLE).

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t number;
  // A few bytes are never cut short.
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    abort();
  return number;
}
