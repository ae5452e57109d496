// RUN: htp-opt %s | htp-opt | FileCheck %s

// The operations of ONNX in generic form, and what the dialect adds to them.

// CHECK: module attributes {onnx.opset_import = [{domain = "", version = 21 : si64}]}
module attributes {onnx.opset_import = [{domain = "", version = 21 : si64}]} {
  // CHECK-LABEL: func.func @main_graph
  func.func @main_graph(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> (tensor<?x2xf32> {onnx.name = "y"}) {
    // A plain constant has onnx-mlir's short form; one with a name has not.
    // CHECK: = onnx.Constant dense<1.000000e+00> : tensor<4x2xf32>
    %0 = onnx.Constant dense<1.0> : tensor<4x2xf32>
    // CHECK: %w = "onnx.Constant"() <{value = dense<0> : tensor<2xi64>}> {onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<2xi64>
    %1 = "onnx.Constant"() {value = dense<0> : tensor<2xi64>, onnx.initializer, onnx_output_names = ["w"]} : () -> tensor<2xi64>
    // CHECK: "onnx.Constant"() <{value_ints = [1, 2]}> : () -> tensor<2xi64>
    %2 = onnx.Constant {value_ints = [1, 2]} : tensor<2xi64>
    // CHECK: #onnx.external<{{\[\[}}"location", "w.bin"], ["offset", "0"]]> : tensor<2xf32>
    %3 = "onnx.Constant"() {value = #onnx.external<[["location", "w.bin"], ["offset", "0"]]> : tensor<2xf32>} : () -> tensor<2xf32>
    // CHECK: onnx.Constant dense<["a", "\FF"]> : tensor<2x!onnx.String>
    %4 = onnx.Constant dense<["a", "\FF"]> : tensor<2x!onnx.String>
    // Both spellings of a missing input.
    // CHECK: %[[NONE:.*]] = "onnx.NoValue"() <{value}> : () -> none
    // CHECK: "onnx.NoValue"() : () -> none
    %none = "onnx.NoValue"() <{value}> : () -> none
    %none2 = "onnx.NoValue"() : () -> none
    // Attributes of the schema are properties, wherever they were written; results are printed under their names.
    // CHECK: %fc_Gemm_output_0 = "onnx.Gemm"(%{{.*}}, %{{.*}}, %[[NONE]]) <{alpha = 2.000000e+00 : f32, transB = 0 : si64}> {onnx.metadata_props = {{\[\[}}"k", "v"]], onnx_node_name = "/fc/Gemm", onnx_output_names = ["/fc/Gemm_output_0"]}
    %5 = "onnx.Gemm"(%x, %0, %none) <{alpha = 2.0 : f32}> {transB = 0 : si64, onnx_node_name = "/fc/Gemm", onnx_output_names = ["/fc/Gemm_output_0"], onnx.metadata_props = [["k", "v"]]} : (tensor<?x4xf32>, tensor<4x2xf32>, none) -> tensor<?x2xf32>
    // CHECK: "onnx.Cast"(%{{.*}}) <{to = i1}> : (tensor<?x2xf32>) -> tensor<?x2xi1>
    %6 = "onnx.Cast"(%5) {to = i1} : (tensor<?x2xf32>) -> tensor<?x2xi1>
    // Other domains, and operators that no schema knows.
    // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "FusedMatMul"}> {alpha = 1.000000e+00 : f32, domain_name = "com.microsoft"}
    %7 = "onnx.Custom"(%5) <{function_name = "FusedMatMul"}> {domain_name = "com.microsoft", alpha = 1.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: "onnx.SimplifiedLayerNormalization"(%{{.*}}) {epsilon = 5.000000e-01 : f32}
    %8 = "onnx.SimplifiedLayerNormalization"(%5) {epsilon = 0.5 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
    // CHECK: "onnx.If"(%{{.*}}) ({
    // CHECK: onnx.Yield %{{.*}} : tensor<?x2xf32>
    // CHECK: }, {
    %9 = "onnx.If"(%6) ({
      onnx.Yield %7 : tensor<?x2xf32>
    }, {
      onnx.Yield %8 : tensor<?x2xf32>
    }) {onnx_node_name = "choose"} : (tensor<?x2xi1>) -> tensor<?x2xf32>
    // CHECK: onnx.Return %{{.*}} : tensor<?x2xf32>
    onnx.Return %9 : tensor<?x2xf32>
  }
  // CHECK: "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()

  // CHECK: func.func private @types(!onnx.Seq<tensor<*xf32>>, !onnx.Opt<!onnx.Seq<tensor<2x!onnx.String>>>, !onnx.Map<i64, tensor<f32>>, !onnx.SparseTensor<tensor<3x4xf32>>, !onnx.Opaque<"d", "n">
  func.func private @types(!onnx.Seq<tensor<*xf32>>, !onnx.Opt<!onnx.Seq<tensor<2x!onnx.String>>>, !onnx.Map<i64, tensor<f32>>, !onnx.SparseTensor<tensor<3x4xf32>>, !onnx.Opaque<"d", "n">, tensor<2xi4>, tensor<2xui2>, tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU>, tensor<2xcomplex<f64>>)
}
