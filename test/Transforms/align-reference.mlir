// RUN: htp-opt %s --htp-align-reference=reference=%S/Inputs/reference.mlir | FileCheck %s

// An optimizer has fused two nodes and renamed the others; it kept the name of
// one value, and the weights.

// CHECK: htp.module @second : "demo.Head"
// CHECK-LABEL: @main_graph
func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "FusedGemm"{{.*}}#htp.tag<"act", evidence = "reference"
  %0 = "onnx.Custom"(%x, %w0) {function_name = "FusedGemm", domain_name = "com.microsoft", activation = "Relu", onnx_output_names = ["b"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"second", evidence = "reference"
  %1 = "onnx.MatMul"(%0, %w1) {onnx_output_names = ["other"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Sigmoid"{{.*}}#htp.tag<"second", evidence = "reference"
  %2 = "onnx.Sigmoid"(%1) {onnx_output_names = ["last"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
