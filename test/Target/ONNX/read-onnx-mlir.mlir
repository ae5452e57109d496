// RUN: htp-opt %s -o %t.onnx && htp-opt %t.onnx | FileCheck %s
// RUN: %python -c "import onnx; onnx.checker.check_model(onnx.load(r'%t.onnx'))"

// As onnx-mlir prints it, to a model that ONNX knows.

// onnx.SoftmaxV11 is the Softmax of opset 11 and 12.
// CHECK: onnx.opset_import = [{version = 12 : si64}
// CHECK: func.func @main_graph(%{{.*}}: tensor<?x4xf32> {onnx.dim_params = "0:batch", onnx.name = "x"}{{.*}}) -> (tensor<?x2xf32> {{.*}}onnx.name = "y"})
func.func @main_graph(%arg0: tensor<?x4xf32> {onnx.dim_params = "0:batch", onnx.name = "x"}) -> (tensor<?x2xf32> {onnx.name = "y"}) {
  // CHECK: "onnx.Constant"() <{value = dense<1.000000e+00> : tensor<4x2xf32>}>
  %0 = onnx.Constant dense<1.000000e+00> : tensor<4x2xf32>
  %1 = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.Gemm"(%{{.*}}, %{{.*}}, %{{.*}}) <{alpha = 1.000000e+00 : f32}> {onnx_node_name = "g", onnx_output_names = ["Gemm_0"]} : (tensor<?x4xf32>, tensor<4x2xf32>, none)
  %2 = "onnx.Gemm"(%arg0, %0, %1) <{alpha = 1.000000e+00 : f32}> {onnx_node_name = "g"} : (tensor<?x4xf32>, tensor<4x2xf32>, none) -> tensor<?x2xf32>
  // The second result is not there.
  // CHECK: "onnx.Dropout"(%{{.*}}, %{{.*}}, %{{.*}}) {onnx_output_names = ["Dropout_0", ""]}
  %3, %mask = "onnx.Dropout"(%2, %1, %1) : (tensor<?x2xf32>, none, none) -> (tensor<?x2xf32>, none)
  // CHECK: "onnx.Softmax"(%{{.*}}) <{axis = 1 : si64}>
  %4 = "onnx.SoftmaxV11"(%3) <{axis = 1 : si64}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: "onnx.Custom"(%{{.*}}) <{function_name = "FusedGelu"}> {domain_name = "com.microsoft"
  %5 = "onnx.Custom"(%4) <{function_name = "FusedGelu"}> {domain_name = "com.microsoft"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = onnx.Constant dense<true> : tensor<i1>
  // CHECK: "onnx.If"(%{{.*}}) ({
  // CHECK: }, {
  // CHECK: onnx.graphs = [{attribute = "then_branch"{{.*}}}, {attribute = "else_branch"{{.*}}}]
  // CHECK-SAME: onnx_output_names = ["y"]
  %7 = "onnx.If"(%6) ({
    %8 = "onnx.Relu"(%5) : (tensor<?x2xf32>) -> tensor<?x2xf32>
    onnx.Yield %8 : tensor<?x2xf32>
  }, {
    onnx.Yield %4 : tensor<?x2xf32>
  }) {output_names = ["r"], output_dim_params = ["0:batch"]} : (tensor<i1>) -> tensor<?x2xf32>
  // CHECK: "onnx.ConstantOfShape"(%{{.*}}) <{value = dense<1> : tensor<1xi64>}>
  %9 = onnx.Constant {value_ints = [2, 3]} : tensor<2xi64>
  %10 = onnx.ConstantOfShape(%9) {value = dense<1> : tensor<1xi64>} : (tensor<2xi64>) -> tensor<2x3xi64>
  onnx.Return %7 : tensor<?x2xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
