// Outlined models as ONNX: functions that the checker accepts, and the same
// bytes again after inlining.
// RUN: htp-opt %s -o %t.tagged.onnx
// RUN: htp-opt %t.tagged.onnx --htp-outline -o %t.outlined.onnx
// RUN: %python -c "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True); print(onnx.load(sys.argv[1]))" %t.outlined.onnx | FileCheck %s
// RUN: htp-opt %t.outlined.onnx --htp-inline -o %t.inlined.onnx
// RUN: cmp %t.tagged.onnx %t.inlined.onnx
// Ops that stay have the scopes of their tags, those that come back too.
// RUN: htp-opt %t.tagged.onnx --htp-outline --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=OUTLINED
// RUN: htp-opt %t.tagged.onnx --htp-outline --htp-inline --htp-verify-tags --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=INLINED

// OUTLINED: call @Layer({{.*}}loc(fused<{htp.scope = "layer.0"}>["layer.0"])
// OUTLINED: call @Layer({{.*}}loc_in_scope = loc("mul1"){{.*}}loc(fused<{htp.scope = "layer.1"}>["layer.1"])
// OUTLINED: func.func private @Layer
// OUTLINED: "onnx.Mul"{{.*}}loc(fused<{htp.scope = ""}>["mul0"])
// INLINED: "onnx.Mul"{{.*}}loc(fused<{htp.scope = "layer.0"}>["mul0"])
// INLINED: "onnx.Mul"{{.*}}loc(fused<{htp.scope = "layer.1"}>["mul1"])

// CHECK: ir_version: 10
// CHECK: op_type: "Layer"
// CHECK: domain: "htp.Net"
// CHECK: key: "htp.scope"
// CHECK-NEXT: value: "layer.0"
// CHECK: op_type: "Layer"
// CHECK: value: "layer.1"
// CHECK: key: "htp.originals"
// CHECK: domain: "htp.Net"
// CHECK: functions {
// CHECK-NEXT: name: "Layer"
// CHECK: input: "x"
// CHECK: input: "w0"
// CHECK: output: "v1"
// CHECK: key: "htp.tag"
// CHECK-NEXT: value: "/Layer"
// CHECK-NOT: functions {

module attributes {onnx.ir_version = 8 : si64, onnx.opset_import = [{domain = "", version = 17 : si64}]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer.0 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
    htp.module @layer.1 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
  }
  func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "v3"}) attributes {onnx.graph_name = "main", onnx.value_info = ["v2", "v0"]} {
    %w0 = "onnx.Constant"() <{value = dense<2.0> : tensor<4xf32>}> {onnx.initializer, htp.parameter = "layer.0.w", onnx_output_names = ["w0"]} : () -> tensor<4xf32>
    %w1 = "onnx.Constant"() <{value = dense<4.0> : tensor<4xf32>}> {onnx.initializer, htp.parameter = "layer.1.w", onnx_output_names = ["w1"]} : () -> tensor<4xf32>
    %none = "onnx.NoValue"() <{value}> : () -> none
    %max0 = "onnx.Constant"() <{value = dense<1.0> : tensor<f32>}> {htp.tag = #htp.tag<"layer.0">, onnx_node_name = "c0", onnx_output_names = ["max0"]} : () -> tensor<f32>
    %max1 = "onnx.Constant"() <{value = dense<1.0> : tensor<f32>}> {htp.tag = #htp.tag<"layer.1">, onnx_node_name = "c1", onnx_output_names = ["max1"]} : () -> tensor<f32>
    %0 = "onnx.Mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.9>, onnx_node_name = "mul0", onnx_output_names = ["v0"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "onnx.Clip"(%0, %none, %max0) {htp.tag = #htp.tag<"layer.0">, onnx_node_name = "clip0", onnx_output_names = ["v1"]} : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
    %2 = "onnx.Mul"(%1, %w1) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.8>, onnx_node_name = "mul1", onnx_output_names = ["v2"], onnx.metadata_props = [["k", "v"]]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "onnx.Clip"(%2, %none, %max1) {htp.tag = #htp.tag<"layer.1">, onnx_node_name = "clip1", onnx_output_names = ["v3"]} : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
    onnx.Return %3 : tensor<4xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
