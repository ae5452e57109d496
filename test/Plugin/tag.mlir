// The whole --htp-tag pipeline in a stock mlir-opt, on generic "onnx" ops, with
// a trace, and outlining after it.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-tag{trace=%htp_src/test/Transforms/Inputs/net.trace.json})' -allow-unregistered-dialect | FileCheck %s
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-tag{trace=%htp_src/test/Transforms/Inputs/net.trace.json},htp-outline{modules=layer.0,act min-ops=1})' -allow-unregistered-dialect | FileCheck %s --check-prefix=OUTLINE

// CHECK: htp.hierarchy @Net : "demo.Net" attributes {htp.fit = {{.*}}verdict = "fits"
// CHECK-LABEL: func.func @main_graph
// OUTLINE-LABEL: func.func @main_graph
func.func @main_graph(%x: tensor<2x2xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "linear_1"}) {
  %w = "onnx.Constant"() {onnx.initializer, value = dense<1.0> : tensor<2x2xf32>, onnx_output_names = ["layer.0.weight"]} : () -> tensor<2x2xf32>
  %b = "onnx.Constant"() {onnx.initializer, value = dense<1.0> : tensor<2xf32>, onnx_output_names = ["layer.0.bias"]} : () -> tensor<2xf32>
  // CHECK: "onnx.Gemm"{{.*}}htp.tag = #htp.tag<"layer.0", evidence
  // CHECK: "onnx.Relu"{{.*}}htp.tag = #htp.tag<"act", evidence
  // CHECK: "onnx.Gemm"{{.*}}htp.tag = #htp.tag<"layer.0", call = 1, evidence
  // OUTLINE: call @Linear(
  // OUTLINE: call @Act(
  // OUTLINE: call @Linear({{.*}}htp.tag = #htp.tag<"layer.0", call = 1>
  %0 = "onnx.Gemm"(%x, %w, %b) {onnx_output_names = ["linear"]} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = "onnx.Relu"(%0) {onnx_output_names = ["relu"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = "onnx.Gemm"(%1, %w, %b) {onnx_output_names = ["linear_1"]} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  "onnx.Return"(%2) : (tensor<2x2xf32>) -> ()
}
