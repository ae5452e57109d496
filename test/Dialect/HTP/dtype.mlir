// A parameter of an element type that MLIR has no word for keeps its shape, through text, bytecode and back.
// RUN: htp-opt %s | htp-opt | FileCheck %s
// RUN: htp-opt %s -o %t.mlirbc && htp-opt %t.mlirbc | FileCheck %s

// CHECK: #htp.parameter<"packed" : tensor<4x2x!htp.dtype<"qint8">>>
htp.hierarchy @Net : "demo.Net" parameters [#htp.parameter<"packed" : tensor<4x2x!htp.dtype<"qint8">>>] {}
