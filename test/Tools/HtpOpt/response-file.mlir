// Arguments from a response file, those of passes included: MLIR looks at them
// long after the file was read.
// RUN: printf '%%s\n' '"--htp-outline=modules=encoder depth=7"' --verify-each > %t.args
// RUN: not htp-opt %s @%t.args 2>&1 | FileCheck %s
// RUN: not htp-opt %s @/dev/stdin < %t.args 2>&1 | FileCheck %s
// CHECK: no such option depth

module {}
