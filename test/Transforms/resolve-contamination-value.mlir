// RUN: split-file %s %t
// RUN: htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=overrides=%t/overrides.json 2>&1 | FileCheck %s

// A node without a name is named by any value that it makes; a node's name comes before a value's.

// CHECK-NOT: warning
// CHECK: "d.split"{{.*}}#htp.tag<"b", evidence = "override"
// CHECK: "d.one"{{.*}}#htp.tag<"b", evidence = "override"
// CHECK: "d.two"{{.*}}#htp.tag<"a">

//--- overrides.json
{"second": "b", "same": "b"}
//--- model.mlir
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = "d.split"(%x) {htp.tag = #htp.tag<"a">, onnx_output_names = ["first", "second"]} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1 = "d.one"(%0#0) {htp.tag = #htp.tag<"a">, onnx_node_name = "same"} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "d.two"(%1) {htp.tag = #htp.tag<"a">, onnx_output_names = ["same"]} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
