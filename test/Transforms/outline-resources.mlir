// RUN: htp-opt %s --htp-outline=min-ops=1 | FileCheck %s
// Each layer has its own copy of a table, whose bytes lie beside the program:
// the copies have other names and the same contents, but for the last one's.

// CHECK-COUNT-2: call @Block(
// CHECK: call @Block_1(
// CHECK: func.func private @Block(
// CHECK: func.func private @Block_1(
// CHECK-NOT: func.func private
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Block"
    htp.module @layers.1 : "demo.Block"
    htp.module @layers.2 : "demo.Block"
  }
  func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
    %c0 = "onnx.Constant"() {value = dense_resource<one> : tensor<4xf32>, htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["c0"]} : () -> tensor<4xf32>
    %a0 = "onnx.Add"(%x, %c0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["a0"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r0 = "onnx.Relu"(%a0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["r0"]} : (tensor<4xf32>) -> tensor<4xf32>
    %c1 = "onnx.Constant"() {value = dense_resource<two> : tensor<4xf32>, htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["c1"]} : () -> tensor<4xf32>
    %a1 = "onnx.Add"(%r0, %c1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["a1"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r1 = "onnx.Relu"(%a1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["r1"]} : (tensor<4xf32>) -> tensor<4xf32>
    %c2 = "onnx.Constant"() {value = dense_resource<other> : tensor<4xf32>, htp.tag = #htp.tag<"layers.2">, onnx_output_names = ["c2"]} : () -> tensor<4xf32>
    %a2 = "onnx.Add"(%r1, %c2) {htp.tag = #htp.tag<"layers.2">, onnx_output_names = ["a2"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r2 = "onnx.Relu"(%a2) {htp.tag = #htp.tag<"layers.2">, onnx_output_names = ["y"]} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Return %r2 : tensor<4xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
{-#
  dialect_resources: {
    builtin: {
      one: "0x040000000000803F000000400000404000008040",
      two: "0x040000000000803F000000400000404000008040",
      other: "0x040000000000803F00000040000040400000A040"
    }
  }
#-}
