// Results whose type no inference finds. onnx-mlir wants a tensor wherever one is read.
// RUN: htp-opt %s --emit=onnx-mlir | FileCheck %s

// CHECK-LABEL: func.func @main_graph
func.func @main_graph(%x: tensor<2xf16> {onnx.name = "x"}, %z: tensor<3xf16> {onnx.name = "z"}, %i: tensor<2xi64> {onnx.name = "i"}) -> (tensor<*xf16> {onnx.name = "y"}) {
  // With the element type that the schema says, here that of the second operand, though these sizes do not
  // broadcast.
  // CHECK: "onnx.Where"(%{{.*}}, %arg0, %arg1) : (tensor<*xi1>, tensor<2xf16>, tensor<3xf16>) -> tensor<*xf16>
  %c = "onnx.Equal"(%i, %i) : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xi1>
  %0 = "onnx.Where"(%c, %x, %z) : (tensor<*xi1>, tensor<2xf16>, tensor<3xf16>) -> none
  // Also where the operands are any number of values. (There is no axis 7.)
  // CHECK: "onnx.Concat"(%{{.*}}, %arg0) {{.*}} -> tensor<*xf16>
  %1 = "onnx.Concat"(%0, %x) {axis = 7 : si64} : (none, tensor<2xf16>) -> none
  // Of an operator that is not ONNX's the first tensor tells.
  // CHECK: "onnx.Custom"(%{{.*}}, %{{.*}}) {{.*}} -> tensor<*xi64>
  %2 = "onnx.Custom"(%i, %x) <{function_name = "Odd"}> {domain_name = "d"} : (tensor<2xi64>, tensor<2xf16>) -> none
  // If there is none, floats are as good as any.
  // CHECK: "onnx.Custom"() {{.*}} -> tensor<*xf32>
  %3 = "onnx.Custom"() <{function_name = "Source"}> {domain_name = "d"} : () -> none
  // What nobody reads needs none.
  // CHECK: "onnx.Custom"(%{{.*}}) {{.*}} -> none
  %4 = "onnx.Custom"(%x) <{function_name = "Sink"}> {domain_name = "d"} : (tensor<2xf16>) -> none
  %y = "onnx.Custom"(%1, %2, %3) <{function_name = "Join"}> {domain_name = "d"} : (none, none, none) -> tensor<*xf16>
  onnx.Return %y : tensor<*xf16>
}
"onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
