// RUN: htp-opt %s --cse --canonicalize | FileCheck %s

// MLIR's own passes: equal nodes merge whatever they are called, dead ones go,
// random ones and those that nobody knows stay.

// CHECK-LABEL: func.func @merge
func.func @merge(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: "onnx.Relu"
  // CHECK-NOT: "onnx.Relu"
  %0 = "onnx.Relu"(%x) {onnx_node_name = "a", onnx_output_names = ["a_out"]} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Relu"(%x) {onnx_node_name = "b", onnx_output_names = ["b_out"]} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "onnx.LeakyRelu"(%{{.*}}) <{alpha = 1.000000e+00 : f32}>
  // CHECK: "onnx.LeakyRelu"(%{{.*}}) <{alpha = 2.000000e+00 : f32}>
  %2 = "onnx.LeakyRelu"(%0) {alpha = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "onnx.LeakyRelu"(%1) {alpha = 2.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @dead
func.func @dead(%x: tensor<2xf32>, %c: tensor<i1>) {
  // CHECK-NOT: "onnx.Relu"
  // CHECK-NOT: "onnx.If"
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.If"(%c) ({
    %2 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %2 : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return
}

// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<2xf32>, %c: tensor<i1>) {
  // CHECK-COUNT-2: "onnx.RandomNormalLike"
  %0 = "onnx.RandomNormalLike"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.RandomNormalLike"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "onnx.Unheard"
  %2 = "onnx.Unheard"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "onnx.Custom"
  %3 = "onnx.Custom"(%x) <{function_name = "F"}> : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "onnx.If"
  %4 = "onnx.If"(%c) ({
    %5 = "onnx.Bernoulli"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %5 : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return
}
