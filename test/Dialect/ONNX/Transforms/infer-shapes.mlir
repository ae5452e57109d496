// RUN: htp-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s

// What a TorchScript-based exporter makes of `mask.expand(x.shape)`: -1 means "as it is".
// CHECK-LABEL: func.func @fixed
// CHECK-SAME: -> tensor<1x4x16xf32>
func.func @fixed(%x: tensor<1x4x16xf32>, %v: tensor<1x1x16xf32>) -> tensor<?x?x?xf32> {
  %three = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus = "onnx.Constant"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %wanted = "onnx.Constant"() {value = dense<[1, 4, -1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %shape = "onnx.Shape"(%v) : (tensor<1x1x16xf32>) -> tensor<3xi64>
  // CHECK: "onnx.ConstantOfShape"({{.*}} -> tensor<3xi64>
  %ones = "onnx.ConstantOfShape"(%three) {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<?xi64>
  %minuses = "onnx.Mul"(%ones, %minus) : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  %kept = "onnx.Equal"(%wanted, %minuses) : (tensor<3xi64>, tensor<?xi64>) -> tensor<?xi1>
  %size = "onnx.Where"(%kept, %ones, %wanted) : (tensor<?xi1>, tensor<?xi64>, tensor<3xi64>) -> tensor<?xi64>
  // CHECK: "onnx.Expand"({{.*}} -> tensor<1x4x16xf32>
  %e = "onnx.Expand"(%v, %size) : (tensor<1x1x16xf32>, tensor<?xi64>) -> tensor<?x?x?xf32>
  // CHECK: "onnx.Add"({{.*}} -> tensor<1x4x16xf32>
  %y = "onnx.Add"(%e, %x) : (tensor<?x?x?xf32>, tensor<1x4x16xf32>) -> tensor<?x?x?xf32>
  onnx.Return %y : tensor<?x?x?xf32>
}

// -----

// Of a dynamic batch the other sizes are known all the same.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: -> (tensor<?x16x4x8xf32>, tensor<?x16xf32>)
func.func @dynamic(%x: tensor<?x16x32xf32>) -> (tensor<*xf32>, tensor<?x?xf32>) {
  %shape = "onnx.Shape"(%x) : (tensor<?x16x32xf32>) -> tensor<3xi64>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %heads = "onnx.Constant"() {value = dense<[4, 8]> : tensor<2xi64>} : () -> tensor<2xi64>
  %first = "onnx.Slice"(%shape, %zero, %two, %zero) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %size = "onnx.Concat"(%first, %heads) {axis = 0 : si64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  // CHECK: "onnx.Reshape"({{.*}} -> tensor<?x16x4x8xf32>
  %y = "onnx.Reshape"(%x, %size) : (tensor<?x16x32xf32>, tensor<4xi64>) -> tensor<*xf32>
  // CHECK: "onnx.ConstantOfShape"({{.*}} -> tensor<?x16xf32>
  %z = "onnx.ConstantOfShape"(%first) {value = dense<0.0> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %y, %z : tensor<*xf32>, tensor<?x?xf32>
}

// -----

// Nothing is known where a number comes from the input, and 1 and N broadcast
// to whatever N is.
// CHECK-LABEL: func.func @input
// CHECK-SAME: -> (tensor<?x?xf32>, tensor<?x?xf32>)
func.func @input(%x: tensor<?x1xf32>, %n: tensor<2xi64>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %shape = "onnx.Shape"(%x) : (tensor<?x1xf32>) -> tensor<2xi64>
  %size = "onnx.Max"(%shape, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %y = "onnx.Expand"(%x, %size) : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %minus = "onnx.Constant"() {value = dense<[1, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %z = "onnx.Reshape"(%y, %n) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %y, %z : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// A function that is called keeps its signature.
// CHECK-LABEL: func.func @main
// CHECK: call @Layer({{.*}}) : (tensor<2x3xf32>) -> tensor<?x?xf32>
func.func @main(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = call @Layer(%x) : (tensor<2x3xf32>) -> tensor<?x?xf32>
  onnx.Return %0 : tensor<?x?xf32>
}
func.func private @Layer(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<?x?xf32>
  onnx.Return %0 : tensor<?x?xf32>
}

// -----

// What goes into a function keeps the type that the function takes.
// CHECK-LABEL: func.func @passed
// CHECK: "onnx.Relu"({{.*}}) : (tensor<2x3xf32>) -> tensor<?x?xf32>
// CHECK: call @Taken({{.*}}) : (tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @passed(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = call @Taken(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  onnx.Return %1 : tensor<?x?xf32>
}
func.func private @Taken(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  onnx.Return %0 : tensor<?x?xf32>
}
