// Summaries of models that are not all in order: nodes without tags, outlined functions, names that would
// break the lines, and how well the trace fitted that the tags came from.
// RUN: htp-opt %s -o /dev/null --summary | FileCheck %s --strict-whitespace

//      CHECK:Net\x0AWork
// CHECK-NEXT:  modules       3
// CHECK-NEXT:  operations    4 (0 constants)
// CHECK-NEXT:  initializers  0
// CHECK-NEXT:  functions     1, called 2 times
// CHECK-NEXT:  coverage      75.0 % (3 of 4)
// CHECK-NEXT:  placed        75.0 % (3 of 4 in a module below the root)
// CHECK-NEXT:  trace         doubtful: 2 of 3 parameters found, 4 of 5 nodes explained, likelihood -1.50 (about -0.8 where it fits)
// CHECK-NEXT:  confidence    1.000 on average
// CHECK:{{^}}  module          calls  own  all
// CHECK-NEXT:  Net\x0AWork         1    0    3
// CHECK-NEXT:  ├─ Blöck.0          1    2    2
// CHECK-NEXT:  └─ Blöck.\x7F1      1    1    1
htp.hierarchy @"Net\0AWork" : "demo.Net\0AWork" attributes {htp.fit = [{source = "trace", verdict = "doubtful", parameters = 3 : i64, parameters_found = 2 : i64, nodes = 5 : i64, nodes_explained = 4 : i64, likelihood = -1.5 : f64, likelihood_of_fitting = -0.75 : f64}]} {
  htp.module @"0" : "demo.Bl\C3\B6ck"
  htp.module @"\7F1" : "demo.Bl\C3\B6ck"
}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %a = call @Layer(%x) {htp.tag = #htp.tag<"0">} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "onnx.Relu"(%a) {htp.tag = #htp.tag<"0">} : (tensor<4xf32>) -> tensor<4xf32>
  %c = call @Layer(%b) {htp.tag = #htp.tag<"\7F1">} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "onnx.Neg"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %d : tensor<4xf32>
}
func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "0"} {
  %0 = "onnx.Exp"(%x) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
