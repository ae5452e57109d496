// The document in the page is plain ASCII: names in any script are escaped, beyond the first 65,536
// characters as two halves, and no "<" is left that could end the element around it.
// RUN: htp-opt %s --report=- -o= | FileCheck %s

// CHECK: "path":"b\u00e4r.\ud83d\ude00"
// CHECK-SAME: "class":"\u003c/script>"
// CHECK-NOT: <{{/}}script>{{.}}
// CHECK: </html>
htp.hierarchy @Net : "demo.Net" {
  htp.module @"b\C3\A4r" : "demo.Layer"
  htp.module @"b\C3\A4r.\F0\9F\98\80" : "demo.</script>"
}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %y = "onnx.Relu"(%x) {htp.tag = #htp.tag<"b\C3\A4r.\F0\9F\98\80">, onnx_output_names = ["y"]} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}
