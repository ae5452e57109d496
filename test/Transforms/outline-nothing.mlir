// Where no module becomes a function, nothing moves either.
// RUN: htp-opt %s --htp-outline=min-ops=2 | FileCheck %s
// A block that was sorted gets its order back, also if its calls are gone.
// RUN: htp-opt %s --htp-inline | FileCheck %s --check-prefix=SORTED

htp.hierarchy @Net : "demo.Net" {
  htp.module @m : "demo.M"
}
// CHECK: func.func @main_graph
// CHECK-NOT: htp.order
// CHECK: "onnx.Relu"
// CHECK-NEXT: "onnx.Constant"
// CHECK-NEXT: "onnx.Neg"
// CHECK-NEXT: "onnx.Identity"
// CHECK-NEXT: onnx.Return
func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "z"}) {
  %y = "onnx.Relu"(%x) {htp.tag = #htp.tag<"">, onnx_output_names = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
  %c = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>, htp.tag = #htp.tag<"m">, onnx_output_names = ["c"]} : () -> tensor<2xf32>
  %z = "onnx.Neg"(%y) {htp.tag = #htp.tag<"">, onnx_output_names = ["z"]} : (tensor<2xf32>) -> tensor<2xf32>
  %d = "onnx.Identity"(%c) {htp.tag = #htp.tag<"m">, onnx_output_names = ["d"]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %z : tensor<2xf32>
}
// SORTED: func.func @other
// SORTED-NOT: htp.order
// SORTED: "onnx.Relu"
// SORTED-NEXT: "onnx.Neg"
// SORTED-NEXT: "onnx.Abs"
// SORTED-NEXT: onnx.Return
func.func @other(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {htp.order = array<i64: 0, 1, 2, 1, 1, 1>} {
  %y = "onnx.Relu"(%x) {onnx_output_names = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
  %a = "onnx.Abs"(%x) {onnx_output_names = ["a"]} : (tensor<2xf32>) -> tensor<2xf32>
  %z = "onnx.Neg"(%y) {onnx_output_names = ["z"]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %z, %a : tensor<2xf32>, tensor<2xf32>
}
