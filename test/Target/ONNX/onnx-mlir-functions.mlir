// RUN: split-file %s %t
// RUN: htp-opt %t/calls.mlir --emit=onnx-mlir | FileCheck %t/calls.mlir
// RUN: not htp-opt %t/recursion.mlir --emit=onnx-mlir 2>&1 | FileCheck %t/recursion.mlir

// Model-local functions: one for each kind of call, with the types and attributes of that call.

//--- calls.mlir
// CHECK-LABEL: func.func @main_graph
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "d", version = 1 : si64}, {version = 20 : si64}]} {
  func.func @main_graph(%x: tensor<2x3xf32> {onnx.name = "x"}, %i: tensor<?xi64> {onnx.name = "i"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
    // CHECK: %[[A:.*]] = call @Outer(%arg0) {onnx_node_name = "first"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %0 = "onnx.Custom"(%x) <{function_name = "Outer"}> {domain_name = "d", onnx_node_name = "first"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: %[[B:.*]] = call @Outer(%[[A]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "onnx.Custom"(%0) <{function_name = "Outer"}> {domain_name = "d"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // Other attributes and other types are other functions.
    // CHECK: call @Scaled_0(%[[B]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "onnx.Custom"(%1) <{function_name = "Scaled"}> {domain_name = "d", alpha = 0.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: call @Turned(%arg1) : (tensor<?xi64>) -> tensor<?xf64>
    %3 = "onnx.Custom"(%i) <{function_name = "Turned"}> {domain_name = "d", type = 11 : si64} : (tensor<?xi64>) -> none
    // An input that the call leaves out is not there.
    // CHECK: %[[NONE:.*]] = "onnx.NoValue"()
    // CHECK: call @Clipped(%{{.*}}, %[[NONE]]) : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
    %4 = "onnx.Custom"(%2) <{function_name = "Clipped"}> {domain_name = "d"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // One of the same name in another domain is none of these.
    // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "Scaled"}> {domain_name = "other"}
    %5 = "onnx.Custom"(%4) <{function_name = "Scaled"}> {domain_name = "other"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Return %5 : tensor<2x3xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
  func.func private @Outer(%x: none {onnx.name = "x"}) -> (none {onnx.name = "y"}) attributes {onnx.function_name = "Outer", onnx.function_domain = "d", onnx.opset_import = [{domain = "d", version = 1 : si64}, {version = 18 : si64}]} {
    %0 = "onnx.Custom"(%x) <{function_name = "Scaled"}> {domain_name = "d"} : (none) -> none
    onnx.Return %0 : none
  }
  func.func private @Scaled(%x: none {onnx.name = "x"}) -> (none {onnx.name = "y"}) attributes {onnx.function_name = "Scaled", onnx.function_domain = "d", onnx.attribute_proto = [{name = "alpha", f = 3.000000e+00 : f32, type = 1 : si64}], onnx.opset_import = [{version = 18 : si64}]} {
    %0 = "onnx.Constant"() {onnx.attributes = [{name = "value_float", ref_attr_name = "alpha", type = 1 : si64}]} : () -> none
    %1 = "onnx.Mul"(%x, %0) : (none, none) -> none
    onnx.Return %1 : none
  }
  func.func private @Turned(%x: none {onnx.name = "x"}) -> (none {onnx.name = "y"}) attributes {onnx.function_name = "Turned", onnx.function_domain = "d", onnx.attribute = ["type"], onnx.opset_import = [{version = 18 : si64}]} {
    %0 = "onnx.Cast"(%x) {onnx.attributes = [{name = "to", ref_attr_name = "type", type = 2 : si64}]} : (none) -> none
    onnx.Return %0 : none
  }
  func.func private @Clipped(%x: none {onnx.name = "x"}, %low: none {onnx.name = "low"}) -> (none {onnx.name = "y"}) attributes {onnx.function_name = "Clipped", onnx.function_domain = "d", onnx.opset_import = [{version = 18 : si64}]} {
    %0 = "onnx.Clip"(%x, %low) : (none, none) -> none
    onnx.Return %0 : none
  }
  // CHECK: func.func private @Outer(%{{.*}}: tensor<2x3xf32> {onnx.name = "x"}{{.*}}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
  // CHECK:   call @Scaled(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: func.func private @Scaled(
  // CHECK:   "onnx.Constant"() <{value_float = 3.000000e+00 : f32}> : () -> tensor<f32>
  // CHECK:   "onnx.Mul"(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: func.func private @Scaled_0(
  // CHECK:   "onnx.Constant"() <{value_float = 5.000000e-01 : f32}>
  // CHECK: func.func private @Turned(
  // CHECK:   "onnx.Cast"(%{{.*}}) <{to = f64}> : (tensor<?xi64>) -> tensor<?xf64>
  // CHECK: func.func private @Clipped(
  // CHECK:   "onnx.Clip"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3xf32>, none, none) -> tensor<2x3xf32>
}

//--- recursion.mlir
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "d", version = 1 : si64}]} {
  func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
    %0 = "onnx.Custom"(%x) <{function_name = "F"}> {domain_name = "d"} : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Return %0 : tensor<2xf32>
  }
  func.func private @F(%x: none) -> none attributes {onnx.function_name = "F", onnx.function_domain = "d", onnx.opset_import = [{domain = "d", version = 1 : si64}]} {
    // CHECK: error: function 'F' calls itself, which ONNX does not allow
    %0 = "onnx.Custom"(%x) <{function_name = "F"}> {domain_name = "d"} : (none) -> none
    onnx.Return %0 : none
  }
}
