// Names become XML whatever they hold: what XML cannot represent is shown by its picture.
// RUN: htp-opt %s -o= --graphml=%t.graphml && FileCheck %s --input-file=%t.graphml
// RUN: %python -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" %t.graphml

// CHECK: <data key="name">a&amp;b&lt;c&gt;&quot;d&quot;</data>
// CHECK: <data key="name">tab&#9;line&#10;␛␡</data>
// CHECK: <data key="name">日本 😀 �</data>
htp.hierarchy @Net : "demo.Net" {}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %0 = "onnx.Relu"(%x) {onnx_node_name = "a&b<c>\22d\22", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Relu"(%0) {onnx_node_name = "tab\09line\0A\1B\7F", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Relu"(%1) {onnx_node_name = "\E6\97\A5\E6\9C\AC \F0\9F\98\80 \EF\BF\BE", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %2 : tensor<4xf32>
}
