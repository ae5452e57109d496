// RUN: htp-opt %s --htp-tag=trace=%S/../Transforms/Inputs/two-linears.trace.json | FileCheck %s
// RUN: htp-opt %s --htp-tag="trace=%S/../Transforms/Inputs/two-linears.trace.json torch-nn=true" | FileCheck %s --check-prefix=SPELL

// A model without a single name: the tree and the answers come from the trace,
// and what no traced op made goes with what reads it.

// SPELL: htp.torch_nn_tags

// CHECK: htp.hierarchy @Net : "demo.Net"
// CHECK-LABEL: @main_graph
func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: dense<0.000000e+00>{{.*}}#htp.tag<"second", evidence = "consumer"
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"first"
  %0 = "onnx.MatMul"(%x, %w0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", evidence
  %1 = "onnx.Relu"(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Gemm"{{.*}}#htp.tag<"second"
  %2 = "onnx.Gemm"(%1, %w1, %zero) : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", call = 1, evidence
  %3 = "onnx.Relu"(%2) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Add"{{.*}}#htp.tag<""
  %4 = "onnx.Add"(%3, %1) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}
