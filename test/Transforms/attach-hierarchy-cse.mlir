// RUN: htp-opt %s --htp-attach-hierarchy --cse | FileCheck %s

// Tags tell modules apart, not nodes: MLIR's passes still merge equal nodes of one module.

// CHECK-LABEL: func.func @main_graph
func.func @main_graph(%x: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  // CHECK-COUNT-2: "onnx.Constant"
  // CHECK-NOT: "onnx.Constant"
  %0 = "onnx.Constant"() <{value = dense<16> : tensor<1xi64>}> {onnx_node_name = "/a/Constant", onnx_output_names = ["/a/Constant_output_0"]} : () -> tensor<1xi64>
  %1 = "onnx.Reshape"(%x, %0) {onnx_node_name = "/a/Reshape"} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<16xf32>
  %2 = "onnx.Constant"() <{value = dense<16> : tensor<1xi64>}> {onnx_node_name = "/a/Constant_1", onnx_output_names = ["/a/Constant_1_output_0"]} : () -> tensor<1xi64>
  %3 = "onnx.Reshape"(%x, %2) <{allowzero = 1 : si64}> {onnx_node_name = "/a/Reshape_1"} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<16xf32>
  %4 = "onnx.Constant"() <{value = dense<16> : tensor<1xi64>}> {onnx_node_name = "/b/Constant", onnx_output_names = ["/b/Constant_output_0"]} : () -> tensor<1xi64>
  %5 = "onnx.Reshape"(%x, %4) {onnx_node_name = "/b/Reshape"} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<16xf32>
  onnx.Return %1, %3, %5 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
