// RUN: htp-opt %s -split-input-file -verify-diagnostics

func.func @inputs(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.MatMul' op has 1 inputs, but version 13 of MatMul has 2}}
  %0 = "onnx.MatMul"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @optional(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.Clip' op has 4 inputs, but version 13 of Clip has 1 to 3}}
  %0 = "onnx.Clip"(%x, %x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @variadic() {
  // expected-error @+1 {{'onnx.Concat' op has 0 inputs, but version 13 of Concat has at least 1}}
  %0 = "onnx.Concat"() {axis = 0 : si64} : () -> tensor<2xf32>
  return
}

// -----

func.func @outputs(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.Relu' op has 2 outputs, but version 14 of Relu has 1}}
  %0:2 = "onnx.Relu"(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @name(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.Relu' op has an attribute 'alpha', which version 14 of Relu does not have}}
  %0 = "onnx.Relu"(%x) {alpha = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @type(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.Concat' op has attribute 'axis' = "0", but version 13 of Concat wants an integer (si64)}}
  %0 = "onnx.Concat"(%x) {axis = "0"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @required(%x: tensor<2xf32>) {
  // expected-error @+1 {{'onnx.Concat' op has no attribute 'axis', which version 13 of Concat requires}}
  %0 = "onnx.Concat"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// The same operator in an older version: squeezing by an input came with opset 13.
module attributes {onnx.opset_import = [{version = 11 : si64}]} {
  func.func @version(%x: tensor<2x1xf32>, %axes: tensor<1xi64>) {
    %0 = "onnx.Squeeze"(%x) {axes = [1]} : (tensor<2x1xf32>) -> tensor<2xf32>
    // expected-error @+1 {{'onnx.Squeeze' op has 2 inputs, but version 11 of Squeeze has 1}}
    %1 = "onnx.Squeeze"(%x, %axes) : (tensor<2x1xf32>, tensor<1xi64>) -> tensor<2xf32>
    return
  }
}

// -----

func.func @regions(%x: tensor<i1>) {
  // expected-error @+1 {{'onnx.If' op has 1 regions, but version 25 of If has 2}}
  %0 = "onnx.If"(%x) ({
    onnx.Yield %x : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  return
}

// -----

func.func @custom_syntax(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected '('}}
  %0 = onnx.Relu %x : tensor<2xf32>
  return
}
