// RUN: htp-opt %s --htp-align-trace=trace=%S/Inputs/two-linears.trace.json --split-input-file --verify-diagnostics

// A trace of another model: no guess.

// expected-error @below {{is of another model: 0 of its 2 parameters are in the model}}
// expected-note @below {{the option force turns this into a warning}}
module {
  func.func @other(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %w = "onnx.Constant"() {value = dense<[[9.0, 9.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
    %0 = "onnx.MatMul"(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    return %0 : tensor<1x2xf32>
  }
}
