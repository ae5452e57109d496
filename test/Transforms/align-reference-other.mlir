// RUN: htp-opt %s --htp-align-reference=reference=%S/Inputs/reference.mlir --verify-diagnostics -o %t

// One name is the same by accident, and the root is a module of every model: that is not a fit.

// expected-warning @below {{reference.mlir' may be of another model: 0 of its 2 parameters are in the model}}
module {
  htp.hierarchy @Other : "demo.Other" {
    htp.module @first : "demo.Encoder"
  }
  func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %w = "onnx.Constant"() {value = dense<[[9.0, 9.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
    %0 = "onnx.MatMul"(%x, %w) {htp.tag = #htp.tag<"first">} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %1 = "onnx.Tanh"(%0) {htp.tag = #htp.tag<"">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = "onnx.Exp"(%1) {htp.tag = #htp.tag<"">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %3 = "onnx.Neg"(%2) {htp.tag = #htp.tag<"">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    return %3 : tensor<1x2xf32>
  }
}
