// RUN: htp-opt %s -o /dev/null --op-metadata=%t.ops.json --dag-json=%t.dag.json --graphml=%t.graphml --summary=%t.txt
// RUN: %python %S/../Inputs/check_names.py %t.ops.json %t.dag.json %t.graphml %t.txt

// Quotes, line ends, control characters, markup and bytes that are not UTF-8
// reach every format in a form that its readers accept.
htp.hierarchy @Net : "net.Net" {
}
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "onnx.Relu"(%x) {onnx_node_name = "a\22quote\22 \5C", onnx_output_names = ["tab\09nul\00bell\07"], htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "onnx.Relu"(%a) {onnx_node_name = "line\0Aend\0D\1B[31m", onnx_output_names = ["<b>&amp;'</b>"], htp.tag = #htp.tag<"", reason = "<script>\0A">} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "onnx.Relu"(%b) {onnx_node_name = "bytes\FF\FE\C3\28", onnx_output_names = ["\80"], htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "onnx.Relu"(%c) {onnx_node_name = "]]> <node/> \7F \EF\BF\BF \E2\82\AC", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %d : tensor<4xf32>
}
