// --htp-outline in a stock mlir-opt, on tosa: equal blocks share a function, a
// weight and a copy of one are operands, other constants live inside.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline)' | FileCheck %s
// RUN: mlir-opt %s %load_htp -mlir-print-debuginfo -mlir-print-local-scope -o %t.flat
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline,htp-inline)' -mlir-print-debuginfo -mlir-print-local-scope -o %t.inlined
// RUN: diff %t.flat %t.inlined

htp.hierarchy @Net : "demo.Net" {
  htp.module @block.0 : "demo.Block" parameters [#htp.parameter<"weight" : tensor<4xf32>>]
  htp.module @block.1 : "demo.Block" parameters [#htp.parameter<"weight" : tensor<4xf32>>]
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[W0:.*]] = "tosa.const"
  // CHECK: %[[W1:.*]] = tosa.identity %[[W0]]
  // CHECK-NEXT: %[[R0:.*]] = call @Block(%[[X]], %[[W0]]) {{.*}}htp.tag = #htp.tag<"block.0">
  // CHECK-NEXT: %[[R1:.*]] = call @Block(%[[R0]], %[[W1]]) {{.*}}htp.tag = #htp.tag<"block.1">
  // CHECK-NEXT: return %[[R1]]
  %w0 = "tosa.const"() <{values = dense<2.0> : tensor<4xf32>}> {htp.parameter = "block.0.weight"} : () -> tensor<4xf32>
  %w1 = tosa.identity %w0 {htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>) -> tensor<4xf32>
  %c0 = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %c1 = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.add %x, %w0 {htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.maximum %0, %c0 {htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %1, %w1 {htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.maximum %2, %c1 {htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
// CHECK: func.func private @Block(
// CHECK-NEXT: "tosa.const"
// CHECK-NEXT: tosa.add
// CHECK-NEXT: tosa.maximum
// CHECK-NOT: func.func
