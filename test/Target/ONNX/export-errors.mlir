// What cannot become ONNX is said, with the node, and leaves no file.
// RUN: rm -rf %t && split-file %s %t
// RUN: not htp-opt %t/dialect.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: not htp-opt %t/initializer.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=INITIALIZER
// RUN: not htp-opt %t/elided.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=ELIDED
// RUN: not htp-opt %t/default.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: not htp-opt %t/double.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=DOUBLE
// RUN: not htp-opt %t/regions.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=REGIONS
// RUN: not htp-opt %t/reference.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: not htp-opt %t/field.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not htp-opt %t/value.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not htp-opt %t/list.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not htp-opt %t/entry.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not htp-opt %t/module.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not htp-opt %t/none.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not htp-opt %t/blocks.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not ls %t/out.onnx

//--- dialect.mlir
// DIALECT: dialect.mlir:3:8: error: 'math.exp' has no form in ONNX
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.exp %x : tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- initializer.mlir
// INITIALIZER: error: 'onnx.Constant' named 'w' is not a tensor that ONNX supports: dense<1> : tensor<2xindex>
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Constant"() {value = dense<1> : tensor<2xindex>, onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- elided.mlir
// Text that was printed without the contents of large tensors.
// ELIDED: error: 'onnx.Constant' named 'w' has no data: its resource is missing or was left out of the text
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Constant"() {value = dense_resource<__elided__> : tensor<2xf32>, onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- default.mlir
// DEFAULT: error: 'func.func' default of input 'x' is not a tensor that ONNX supports: dense<1.000000e+00> : vector<2xf32>
func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x", onnx.default = dense<1.0> : vector<2xf32>}) -> tensor<2xf32> {
  onnx.Return %x : tensor<2xf32>
}

//--- double.mlir
// DOUBLE: error: 'onnx.Custom' attribute 'b' has no form in ONNX: 1.000000e+00 : f64
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Custom"(%x) {function_name = "f", domain_name = "d", b = 1.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- regions.mlir
// REGIONS: error: 'onnx.Custom' has 1 regions, but names of 0
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Custom"(%x) ({ onnx.Yield %x : tensor<2xf32> }) {function_name = "f", domain_name = "d"} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- reference.mlir
// A node of a function of the model's may refer to an attribute of that function, and to no other.
// REFERENCE: error: has a node 'r' (Elu) whose attribute 'alpha' refers to 'gone', which the function does not have
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @Layer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}
func.func private @Layer(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Elu"(%x) {onnx_node_name = "r", onnx.attributes = [{name = "alpha", ref_attr_name = "gone", type = 1 : i64}]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- field.mlir
// Whatever a file holds that MLIR has no place for is kept by the names that ONNX has for it.
// FIELD: error: 'onnx.Relu' has 'color', which is no field of AttributeProto
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) {onnx.attributes = [{name = "a", color = 1 : i64}]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- value.mlir
// VALUE: error: 'onnx.Relu' has 'name' = 1 : i64, expected string
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) {onnx.attributes = [{name = 1 : i64}]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- list.mlir
// LIST: error: 'onnx.Relu' has 'floats' = [1.000000e+00 : f32], expected float values
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) {onnx.attributes = [{name = "a", floats = [1.0 : f32]}]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- entry.mlir
// ENTRY: error: 'onnx.Relu' has "a", expected TensorProto
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) {onnx.attributes = [{name = "a", tensors = ["a"]}]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- module.mlir
// MODULE: error: the module has 'training_info' = 1 : i64, expected message values
module attributes {onnx.training_info = 1} {
  func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
    onnx.Return %x : tensor<2xf32>
  }
}

//--- none.mlir
// NONE: error: has no function that is the model's graph: expected onnx.EntryPoint or @main_graph
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32>

//--- blocks.mlir
// BLOCKS: error: has several blocks; a graph has one
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1
^bb1:
  onnx.Return %x : tensor<2xf32>
}
