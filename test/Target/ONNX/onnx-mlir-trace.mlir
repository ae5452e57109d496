// RUN: htp-opt %s --htp-tag=trace=%S/Inputs/onnx-mlir.trace.json | FileCheck %s

// A model as onnx-mlir prints it, without a word of HTP's: constants without names are parameters by their contents, and old
// versions of operators (a suffix in onnx-mlir) are the operators that they are.

// CHECK: parameters = 2 : i64, parameters_found = 2 : i64
func.func @main_graph(%arg0: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
  // CHECK: "onnx.Constant"() <{value = dense<{{.*}}> {htp.parameter = "a.weight", onnx.initializer}
  %0 = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  // CHECK: "onnx.Constant"() <{value = dense<{{.*}}> {htp.parameter = "b.weight", onnx.initializer}
  %1 = onnx.Constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  // CHECK: "onnx.MatMul"({{.*}}htp.tag = #htp.tag<"a", evidence = "parameter"
  %2 = "onnx.MatMul"(%arg0, %0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.SoftmaxV11"({{.*}}htp.tag = #htp.tag<"", evidence = "alignment"
  %3 = "onnx.SoftmaxV11"(%2) {axis = 1 : si64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.MatMul"({{.*}}htp.tag = #htp.tag<"b", evidence = "parameter"
  %4 = "onnx.MatMul"(%3, %1) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
