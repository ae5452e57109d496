// RUN: htp-opt %s --emit=onnx-mlir | FileCheck %s --check-prefixes=CHECK,LOC
// RUN: htp-opt %s --emit=onnx-mlir | htp-opt | FileCheck %s

// The strict form, point by point: docs/Dialects/ONNX.md, "onnx-mlir".

// A module and a function have no attributes of ONNX's, the module tree is text; arguments and results keep their names.
// CHECK: module attributes {htp.hierarchy = "{{.*}}Model{{.*}}"} {
// CHECK-NEXT: func.func @main_graph(%{{.*}}: tensor<?x4xf32> {onnx.dim_params = "0:batch", onnx.name = "x"}{{.*}}, %{{.*}}: tensor<i1> {onnx.name = "c"}{{.*}}) -> (tensor<?x2xf32> {onnx.name = "y"}) {
module attributes {onnx.ir_version = 8 : si64, onnx.opset_import = [{version = 11 : si64}, {domain = "com.microsoft", version = 1 : si64}], onnx.producer_name = "p"} {
  func.func @main_graph(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch", onnx.doc_string = "d"}, %c: tensor<i1> {onnx.name = "c"}) -> (tensor<?x2xf32> {onnx.name = "y"}) attributes {onnx.graph_name = "g"} {
    // A constant is its value alone, whatever it was.
    // CHECK: onnx.Constant dense<1.000000e+00> : tensor<4x2xf32>
    %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2xf32>, onnx.initializer, onnx_output_names = ["w"], onnx.doc_string = "d"} : () -> tensor<4x2xf32>
    // A missing input at the end is there, as onnx.NoValue.
    // CHECK: %[[NONE:.*]] = "onnx.NoValue"() <{value}> : () -> none
    // CHECK: %[[GEMM:.*]] = "onnx.Gemm"(%{{.*}}, %{{.*}}, %[[NONE]]) <{alpha = 2.000000e+00 : f32, transB = 0 : si64}> {onnx_node_name = "/fc/Gemm"} : (tensor<?x4xf32>, tensor<4x2xf32>, none) -> tensor<?x2xf32>
    %0 = "onnx.Gemm"(%x, %w) {alpha = 2.0 : f32, transB = 0 : si64, onnx_node_name = "/fc/Gemm", onnx_output_names = ["g"], onnx.metadata_props = [["k", "v"]], onnx.attribute_order = ["transB", "alpha"]} : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32> loc("/fc/Gemm")
    // A missing output at the end is there, as a result of type none.
    // CHECK: %{{.*}}:2 = "onnx.Dropout"(%[[GEMM]], %{{.*}}, %{{.*}}) : (tensor<?x2xf32>, none, none) -> (tensor<?x2xf32>, none)
    %1 = "onnx.Dropout"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // Old versions by suffix, where onnx-mlir has several.
    // CHECK: "onnx.SoftmaxV11"(%{{.*}}) {axis = 1 : si64, onnx_node_name = "s"}
    %2 = "onnx.Softmax"(%1) {axis = 1 : si64, onnx_node_name = "s"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: "onnx.UnsqueezeV11"(%{{.*}}) {axes = [0]}
    %3 = "onnx.Unsqueeze"(%2) {axes = [0]} : (tensor<?x2xf32>) -> tensor<1x?x2xf32>
    // A data type is a type.
    // CHECK: "onnx.Cast"(%{{.*}}) <{to = f64}>
    %4 = "onnx.Cast"(%2) {to = f64} : (tensor<?x2xf32>) -> tensor<?x2xf64>
    // Other domains, operators that it does not have, and types that it does not take.
    // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "FusedMatMul"}> {alpha = 1.000000e+00 : f32, domain_name = "com.microsoft", onnx_node_name = "f"}
    %5 = "onnx.Custom"(%2) <{function_name = "FusedMatMul"}> {domain_name = "com.microsoft", alpha = 1.0 : f32, onnx_node_name = "f", onnx_output_names = ["f"]} : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "Unheard"}>
    %6 = "onnx.Unheard"(%2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: "onnx.Custom"() <{function_name = "Constant"}> {value = dense<1> : tensor<2xi4>} : () -> tensor<2xi4>
    %7 = "onnx.Constant"() {value = dense<1> : tensor<2xi4>} : () -> tensor<2xi4>
    // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "ZipMap"}> {domain_name = "ai.onnx.ml"} : (tensor<?x2xf32>) -> none
    %8 = "onnx.Custom"(%2) <{function_name = "ZipMap"}> {domain_name = "ai.onnx.ml"} : (tensor<?x2xf32>) -> !onnx.Map<i64, tensor<f32>>
    // Subgraphs are regions that end in onnx.Yield.
    // CHECK: "onnx.If"(%{{.*}}) ({
    // CHECK:   onnx.Yield %{{.*}} : tensor<?x2xf32>
    // CHECK: }, {
    // CHECK: }) {input_names = [], onnx_node_name = "if", output_dim_params = ["0:batch"], output_names = ["r"]} : (tensor<i1>) -> tensor<?x2xf32>
    %9 = "onnx.If"(%c) ({
      onnx.Yield %5 : tensor<?x2xf32>
    }, {
      onnx.Yield %6 : tensor<?x2xf32>
    }) {onnx_node_name = "if", onnx.graphs = [{attribute = "then_branch", inputs = [], outputs = [{name = "r", dim_params = "0:batch"}]}, {attribute = "else_branch", inputs = [], outputs = ["s"]}]} : (tensor<i1>) -> tensor<?x2xf32>
    // A function of an outlined module is called as it is.
    // CHECK: call @Layer(%{{.*}}) {onnx_node_name = "layer"}
    %10 = func.call @Layer(%9) {onnx_node_name = "layer", htp.order = array<i64: 1>} : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: onnx.Return %{{.*}} : tensor<?x2xf32>
    onnx.Return %10 : tensor<?x2xf32>
  }
  // CHECK: "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
  // CHECK: func.func private @Layer(%{{.*}}: tensor<?x2xf32>{{.*}}) -> tensor<?x2xf32> {
  func.func private @Layer(%x: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {onnx.function_name = "Layer", onnx.function_domain = "htp.m"} {
    %0 = "onnx.Relu"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
    onnx.Return %0 : tensor<?x2xf32>
  }
  // A model-local function has no place there; neither has the operation of the hierarchy.
  // CHECK-NOT: @local
  // CHECK-NOT: htp.hierarchy @
  func.func private @local(%x: none) -> none attributes {onnx.function_name = "local", onnx.function_domain = "d"} {
    onnx.Return %x : none
  }
  htp.hierarchy @Model : "Model" {}
}
// LOC: loc("/fc/Gemm")
