// The types of values and the attributes of operations, for who computes costs.
// RUN: htp-opt %s --op-shapes=- -o= | FileCheck %s
// RUN: htp-opt %s --onnx-infer-shapes=dims=batch=2,x.1=3 --op-shapes=- -o= | FileCheck %s --check-prefix=GIVEN
// RUN: not htp-opt %s --onnx-infer-shapes=dims=length=2 -o= 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not htp-opt %s --onnx-infer-shapes=dims=batch=many -o= 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK: {"format":"htp-op-shapes","version":1,"values":{
// CHECK-SAME: "x":["f32",[null,null,4]]
// CHECK-SAME: "w":["f32",[4,4]]
// CHECK-SAME: "m":["f32",null]
// CHECK-SAME: "attributes":{"soft":{"axis":-1}

// GIVEN: "x":["f32",[2,3,4]]
// GIVEN-SAME: "m":["f32",[2,3,4]]

// UNKNOWN: error: no input has an open dimension 'length'
// BAD: error: expected name=size in dims, found 'batch=many'
htp.hierarchy @Net : "net.Net" {}
func.func @main_graph(%x: tensor<?x?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<4x4xf32>
  %m = "onnx.MatMul"(%x, %w) {onnx_output_names = ["m"], htp.tag = #htp.tag<"">} : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>
  %y = "onnx.Softmax"(%m) {axis = -1 : si64, onnx_node_name = "soft", onnx_output_names = ["y"], htp.tag = #htp.tag<"">} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
