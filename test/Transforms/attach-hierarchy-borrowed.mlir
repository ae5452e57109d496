// RUN: htp-opt %s -allow-unregistered-dialect --htp-tag=trace=%S/Inputs/borrowed.trace.json | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect --htp-tag=trace=%S/Inputs/borrowed.trace.json --htp-tag | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect --htp-tag | FileCheck %s --check-prefix=ALONE

// An attention reads the weight of its projection itself, without calling it. The trace saw that, and the parameter says so:
// the tag is sure, also if it is only checked again later. From the name alone it is not.

// CHECK: "t.Constant"() {htp.parameter = "attention.proj.weight", htp.users = ["attention"], onnx.initializer
// CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.99
// ALONE-NOT: htp.users
// ALONE: "t.MatMul"{{.*}}htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.8
// ALONE-SAME: #htp.context<"attention.proj", evidence = "parameter"
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["attention.proj.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %y = "t.MatMul"(%x, %w) {onnx_node_name = "/attention/MatMul", onnx_output_names = ["y"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
