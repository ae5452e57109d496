// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loaded before a tool, it makes the tool one of another LLVM, as far as a
// plugin can tell.

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = 19;
  *minor = 1;
  *patch = 7;
}
