// RUN: htp-opt %s -allow-unregistered-dialect --htp-tag --htp-outline --htp-tag --htp-verify-tags | FileCheck %s
// RUN: not htp-opt %s -allow-unregistered-dialect --htp-tag --htp-outline --htp-tag=trace=%S/Inputs/two-linears.trace.json -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TRACE

// Tags in an outlined function are relative to its module: tagging again leaves them alone.

// CHECK: call @layer{{.*}}htp.tag = #htp.tag<"layer.0">
// CHECK: func.func private @layer
// CHECK-SAME: htp.module = "layer.0"
// CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"fc"
// CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"act"

// TRACE: error: the model is outlined: {{[0-9]+}} of its functions are modules, whose nodes have their tags; run --htp-inline first

func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w0 = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.fc.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %w1 = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.1.fc.weight"], value = dense<2.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %a = "t.MatMul"(%x, %w0) {onnx_node_name = "/layer.0/fc/MatMul"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = "t.Relu"(%a) {onnx_node_name = "/layer.0/act/Relu"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = "t.MatMul"(%b, %w1) {onnx_node_name = "/layer.1/fc/MatMul"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = "t.Relu"(%c) {onnx_node_name = "/layer.1/act/Relu"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}
