htp.hierarchy @Net : "demo.Net" {
  htp.module @first : "torch.nn.modules.linear.Linear" torch_nn
  htp.module @act : "torch.nn.modules.activation.ReLU" torch_nn
  htp.module @second : "demo.Head"
}
func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w0) {htp.tag = #htp.tag<"first">, onnx_node_name = "m0", onnx_output_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.Relu"(%0) {htp.tag = #htp.tag<"act">, onnx_node_name = "r0", onnx_output_names = ["b"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = "onnx.MatMul"(%1, %w1) {htp.tag = #htp.tag<"second">, onnx_node_name = "m1", onnx_output_names = ["c"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = "onnx.Sigmoid"(%2) {htp.tag = #htp.tag<"second">, onnx_node_name = "s0", onnx_output_names = ["d"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}
