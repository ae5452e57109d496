// Sizes that a file leaves open: what is not known is said, and what is given counts.
// RUN: htp-opt %s --op-figures=- -o= | FileCheck %s
// RUN: htp-opt %s --onnx-infer-shapes=dims=batch=2,x.1=3 --op-figures=- -o= | FileCheck %s --check-prefix=GIVEN
// RUN: not htp-opt %s --onnx-infer-shapes=dims=length=2 -o= 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not htp-opt %s --onnx-infer-shapes=dims=batch=many -o= 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK: {"format":"htp-op-figures","version":1,"notes":[
// CHECK-SAME: "multiply-adds of 1 nodes are not known (1 MatMul): their sizes are open (--dim NAME=SIZE), or no table has them"]
// CHECK-SAME: "modules":[{"costs":{"weight_bytes":{"f32":64},"total_weight_bytes":{"f32":64},"unknown":{"multiply_adds":1,"activation_bytes":2}
// CHECK-SAME: "kind":0}]
// CHECK-SAME: "soft":{"multiply_adds":0,"activation_bytes":null,"types":["f32[…]"]}

// GIVEN: "multiply_adds":96,"total_multiply_adds":96,"confidence"
// GIVEN-SAME: "soft":{"multiply_adds":0,"activation_bytes":96,"types":["f32[2,3,4]"]}

// UNKNOWN: error: no input has an open dimension 'length'
// BAD: error: expected name=size in dims, found 'batch=many'
htp.hierarchy @Net : "net.Net" {}
func.func @main_graph(%x: tensor<?x?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<4x4xf32>
  %m = "onnx.MatMul"(%x, %w) {onnx_output_names = ["m"], htp.tag = #htp.tag<"">} : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>
  %y = "onnx.Softmax"(%m) {axis = -1 : si64, onnx_node_name = "soft", onnx_output_names = ["y"], htp.tag = #htp.tag<"">} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
