// A '%' in the output's name stands for each module's name.

// RUN: rm -rf %t && mkdir %t
// RUN: htp-opt %s -o '%t/%%.mlir'
// RUN: FileCheck %s --check-prefix=FIRST < %t/encoder.layer.0.mlir
// RUN: FileCheck %s --check-prefix=SECOND < %t/a_b.mlir
// RUN: htp-opt %t/a_b.mlir -o %t/again.mlir
// RUN: not htp-opt %t/again.mlir -o '%t/%%.onnx' 2>&1 | FileCheck %s --check-prefix=NONE

// FIRST: module @encoder.layer.0
// FIRST-NOT: @g
module @encoder.layer.0 {
  func.func private @f()
}

// A name is not a path.
// SECOND: module @"a/b"
module @"a/b" {
  func.func private @g()
}

// NONE: error: cannot write '{{.*}}%.onnx': '%' asks for one file per module, found no module inside of the module
