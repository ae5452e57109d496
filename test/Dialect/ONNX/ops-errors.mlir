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

// -----

// What an importer notes beside a node is checked as well: its readers rely on it.

// expected-error @below {{attribute 'onnx.opset_import' must be an array of dictionaries, found [1]}}
module attributes {onnx.opset_import = [1]} {}

// -----

func.func @notes(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'onnx.attributes' must be an array of dictionaries, found [1]}}
  %0 = "onnx.Relu"(%x) {onnx.attributes = [1]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @graphs(%x: tensor<i1>) {
  // expected-error @below {{attribute 'onnx.graphs' must be an array of dictionaries, found [{}, "b"]}}
  %0 = "onnx.If"(%x) ({ onnx.Yield }, { onnx.Yield }) {onnx.graphs = [{}, "b"]} : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

// expected-error @below {{attribute 'onnx.initializer_order' must be an array of strings, found 1 : i64}}
func.func private @order() attributes {onnx.initializer_order = 1}

// -----

func.func @custom(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'onnx.attribute_order' must be an array of strings, found [1]}}
  %0 = "onnx.Custom"(%x) {function_name = "f", domain_name = "d", onnx.attribute_order = [1]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @external() {
  // expected-error @below {{expected pairs of strings, found [["location"]]}}
  %0 = "onnx.Constant"() {value = #onnx.external<[["location"]]> : tensor<2xf32>} : () -> tensor<2xf32>
  return
}

// -----

// Of each type of an attribute the message says what it is.

func.func @float(%x: tensor<2xf32>) {
  // expected-error-re @below {{'onnx.Elu' op has attribute 'alpha' = 1 : si64, but version {{[0-9]+}} of Elu wants a float (f32)}}
  %0 = "onnx.Elu"(%x) {alpha = 1 : si64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @string(%x: tensor<2x2xf32>) {
  // expected-error-re @below {{'onnx.Einsum' op has attribute 'equation' = 1 : si64, but version {{[0-9]+}} of Einsum wants a string}}
  %0 = "onnx.Einsum"(%x) {equation = 1 : si64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @integers(%x: tensor<2x2xf32>) {
  // expected-error-re @below {{'onnx.Transpose' op has attribute 'perm' = [1.000000e+00 : f32], but version {{[0-9]+}} of Transpose wants a list of integers (si64)}}
  %0 = "onnx.Transpose"(%x) {perm = [1.0 : f32]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @tensor() {
  %s = "onnx.NoValue"() {value} : () -> none
  // expected-error-re @below {{'onnx.ConstantOfShape' op has attribute 'value' = 1 : si64, but version {{[0-9]+}} of ConstantOfShape wants a tensor}}
  %0 = "onnx.ConstantOfShape"(%s) {value = 1 : si64} : (none) -> tensor<2xf32>
  return
}

// -----

func.func @blocks(%x: tensor<i1>) {
  // expected-error @below {{'onnx.If' op expects 'else_branch' to end in onnx.Yield}}
  %0 = "onnx.If"(%x) ({ onnx.Yield }, { %1 = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64> }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @count(%x: tensor<i1>) {
  // expected-error-re @below {{'onnx.If' op has 1 regions, but version {{[0-9]+}} of If has 2}}
  %0 = "onnx.If"(%x) ({ onnx.Yield }) : (tensor<i1>) -> tensor<2xf32>
  return
}
