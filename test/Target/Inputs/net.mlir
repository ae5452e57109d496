htp.hierarchy @Net : "net.Net" {
  htp.module @layers : "torch.nn.modules.container.ModuleList" torch_nn calls 0
  htp.module @layers.0 : "net.Block"
  htp.module @layers.0.fc : "torch.nn.modules.linear.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<4x4xf32>>]
  htp.module @layers.1 : "net.Block"
  htp.module @layers.1.fc : "torch.nn.modules.linear.Linear" torch_nn
}
func.func @main_graph(%x: tensor<4x4xf32> {onnx.name = "x"}) -> (tensor<4x4xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["w"], htp.parameter = "layers.0.fc.weight", htp.users = ["layers.0.fc", "layers.1.fc"]} : () -> tensor<4x4xf32>
  %c = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx_output_names = ["c"], htp.tag = #htp.tag<"layers.0">} : () -> tensor<4x4xf32>
  %m = "onnx.MatMul"(%x, %w) {onnx_node_name = "/layers.0/fc/MatMul", onnx_output_names = ["m"], htp.tag = #htp.tag<"layers.0.fc", evidence = "name", confidence = 9.7e-01>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = "onnx.Add"(%m, %c) {onnx_output_names = ["a"], htp.tag = #htp.tag<"layers.0", evidence = "producer", confidence = 9.0e-01>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = "onnx.Mul"(%a, %a) {onnx_node_name = "mask", onnx_output_names = ["k"], htp.tag = #htp.tag<"", evidence = "ancestor", confidence = 5.0e-01, reason = "used by two", contexts = [#htp.context<"layers.0", evidence = "producer", confidence = 3.0e-01>, #htp.context<"layers.1", evidence = "consumer", confidence = 3.0e-01>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = "onnx.MatMul"(%k, %w) {onnx_node_name = "mask", onnx_output_names = ["y"], htp.tag = #htp.tag<"layers.1.fc", evidence = "name", confidence = 9.7e-01>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  onnx.Return %n : tensor<4x4xf32>
}
