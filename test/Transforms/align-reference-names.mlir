// RUN: htp-opt %s --htp-tag=reference=%S/Inputs/reference.mlir | FileCheck %s

// A single name with a scope does not suggest that `second` is a module: it
// would be the root's. The reference knows better.

// CHECK-LABEL: @main_graph
func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[9.0, 9.0], [9.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"first", evidence = "name"
  %0 = "onnx.MatMul"(%x, %w0) {onnx_node_name = "/first/MatMul", onnx_output_names = ["/first/MatMul_output_0"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", evidence = "name"
  %1 = "onnx.Relu"(%0) {onnx_node_name = "/act/Relu", onnx_output_names = ["/act/Relu_output_0"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.MatMulNBits"{{.*}}#htp.tag<"second", evidence = "name"
  %2 = "onnx.MatMulNBits"(%1, %w1) {onnx_node_name = "/second/MatMul_Q4", onnx_output_names = ["12"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
