// RUN: htp-opt %s --htp-align-trace=trace=%S/Inputs/scaled.trace.json --split-input-file | FileCheck %s

// A product that does not transpose was fused with the scale after it, and be
// that 1: what comes out is the scaled one.

// CHECK-LABEL: @scaled
func.func @scaled(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "FusedMatMul"{{.*}}#htp.tag<"", evidence = "alignment"
  %0 = "onnx.Custom"(%x, %w) {function_name = "FusedMatMul", domain_name = "com.microsoft", alpha = 1.0 : f32, transA = 0 : si64, transB = 0 : si64} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

// One that does transpose need not scale.

// CHECK-LABEL: @transposed
func.func @transposed(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "FusedMatMul"{{.*}}#htp.tag<"head", evidence = "parameter"
  %0 = "onnx.Custom"(%x, %w) {function_name = "FusedMatMul", domain_name = "com.microsoft", alpha = 1.0 : f32, transA = 0 : si64, transB = 1 : si64} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Mul"{{.*}}#htp.tag<"", evidence
  %1 = "onnx.Mul"(%0, %0) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
