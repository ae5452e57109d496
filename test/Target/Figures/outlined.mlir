// In an outlined model the call takes the weights; they count for the modules that declare them, whatever the
// names of parameters look like.
// RUN: htp-opt %s -o= --module-figures | %python -m json.tool --indent 1 | FileCheck %s

// CHECK: "path": "layer",
// CHECK-NOT: "weight_bytes"
// CHECK: "total_weight_bytes": {
// CHECK-NEXT: "f32": 32
// CHECK: "path": "layer.inner",
// CHECK: "weight_bytes": {
// CHECK-NEXT: "f32": 32
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "demo.Layer"
  htp.module @layer.inner : "demo.Inner" parameters [#htp.parameter<"dict.w" : tensor<4xf32>>, #htp.parameter<"v" : tensor<4xf32>>]
}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>, onnx.initializer, htp.parameter = "layer.inner.dict.w", onnx_output_names = ["w"]} : () -> tensor<4xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>, onnx.initializer, htp.parameter = "layer.inner.v", onnx_output_names = ["v"]} : () -> tensor<4xf32>
  %0 = call @Layer(%x, %w, %v) {htp.tag = #htp.tag<"layer">} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
func.func private @Layer(%x: tensor<4xf32>, %w: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer"} {
  %0 = "onnx.Mul"(%x, %w) {htp.tag = #htp.tag<"inner">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Add"(%0, %v) {htp.tag = #htp.tag<"inner">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %1 : tensor<4xf32>
}
