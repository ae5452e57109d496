// A sparse tensor whose element type a model leaves open is a sparse tensor wherever the type is written: to a function's value_info,
// too, which would otherwise not fit the operand of its call.
// RUN: htp-opt %s --htp-outline=min-ops=1 -o %t.onnx
// RUN: htp-opt %t.onnx | FileCheck %s

// CHECK: call @Act(%{{.*}}) {{.*}} : (!onnx.SparseTensor<none>) -> tensor<2xf32>
// CHECK: func.func private @Act(%{{.*}}: !onnx.SparseTensor<none>
htp.hierarchy @Net : "demo.Net" {
  htp.module @act : "demo.Act"
}
func.func @main_graph(%x: !onnx.SparseTensor<none> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %y = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act">, onnx_output_names = ["y"]} : (!onnx.SparseTensor<none>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
