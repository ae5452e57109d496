// Ops that nobody registered, in generic form: their names are properties there,
// and equal layers still share one function. Inlining gives the names back.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline)' -allow-unregistered-dialect | FileCheck %s
// RUN: mlir-opt %s %load_htp -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope -o %t.flat
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline,htp-inline)' -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope -o %t.inlined
// RUN: diff %t.flat %t.inlined

htp.hierarchy @Net : "demo.Net" {
  htp.module @block.0 : "demo.Block"
  htp.module @block.1 : "demo.Block"
  htp.module @block.2 : "demo.Block"
}
// CHECK: call @Block(
// CHECK: call @Block(
// CHECK: call @Block_1(
// CHECK: func.func private @Block(
// CHECK: func.func private @Block_1(
// CHECK-NOT: func.func private
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.scale"(%x) <{factor = 2 : i64, onnx_node_name = "a0"}> {htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.relu"(%0) <{onnx_node_name = "b0"}> {htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.scale"(%1) <{factor = 2 : i64, onnx_node_name = "a1"}> {htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.relu"(%2) <{onnx_node_name = "b1"}> {htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>) -> tensor<4xf32>
  // Another factor is another function.
  %4 = "d.scale"(%3) <{factor = 3 : i64, onnx_node_name = "a2"}> {htp.tag = #htp.tag<"block.2">} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "d.relu"(%4) <{onnx_node_name = "b2"}> {htp.tag = #htp.tag<"block.2">} : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
