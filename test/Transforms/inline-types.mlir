// What is known of a constant's type may differ between the graph and a function that has a copy of it, as in a file whose types can
// only be inferred in the outlined form. The copy goes back to its original all the same.
// RUN: htp-opt %s --htp-inline | FileCheck %s

htp.hierarchy @Net : "demo.Net" {
  htp.module @act : "demo.Act"
}
// CHECK-LABEL: func.func @main_graph
// CHECK-NEXT: %[[C:.*]] = "onnx.Constant"{{.*}}["c"]} : () -> tensor<1xi64>
// CHECK-NEXT: "onnx.Add"(%{{.*}}, %[[C]])
// CHECK-NEXT: onnx.Return
func.func @main_graph(%x: tensor<1xi64> {onnx.name = "x"}) -> (tensor<1xi64> {onnx.name = "y"}, tensor<1xi64> {onnx.name = "c"}) {
  %c = "onnx.Constant"() {value = dense<5> : tensor<1xi64>, htp.constant = 0, htp.tag = #htp.tag<"act">, onnx_output_names = ["c"]} : () -> tensor<1xi64>
  %y = func.call @Act(%x) {htp.constants = array<i64: 0>, htp.order = array<i64: 1, 1>, htp.tag = #htp.tag<"act">, onnx_output_names = ["y"]} : (tensor<1xi64>) -> tensor<1xi64>
  onnx.Return %y, %c : tensor<1xi64>, tensor<1xi64>
}
func.func private @Act(%x: tensor<1xi64> {onnx.name = "x"}) -> (tensor<1xi64> {onnx.name = "y"}) attributes {htp.module = "act"} {
  %c = "onnx.Constant"() {value = dense<5> : tensor<1xi64>, htp.sunk = 0, htp.tag = #htp.tag<"">, onnx_output_names = ["c"]} : () -> none
  %y = "onnx.Add"(%x, %c) {htp.tag = #htp.tag<"">, onnx_output_names = ["y"]} : (tensor<1xi64>, none) -> tensor<1xi64>
  onnx.Return %y : tensor<1xi64>
}
