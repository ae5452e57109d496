// The smaller forms of op metadata: modules alone, and modules with their costs, of which the nodes that may
// be wrong are listed with all that is known of them.
// RUN: htp-opt %s -o= --module-metadata | %python -m json.tool --indent 1 | FileCheck %s --check-prefixes=CHECK,MODULES
// RUN: htp-opt %s -o= --module-figures | %python -m json.tool --indent 1 | FileCheck %s --check-prefixes=CHECK,FIGURES

// CHECK: "format": "htp-op-metadata"
// FIGURES: "total_parameters": 16,
// CHECK: "path": "layer"
// A shared module is listed by each of its paths, but its parameters count once in what is around it.
// CHECK: "aliases": [
// CHECK-NEXT: "other"
// CHECK-NEXT: ]
// FIGURES: "multiply_adds": 16,
// MODULES-NOT: "multiply_adds"
// CHECK: "statistics"
// CHECK: "functions"
// MODULES-NOT: "nodes": {
// MODULES-NOT: "notes"

// FIGURES: "notes": [
// FIGURES-NEXT: "1 nodes without a tag are in no module's figures",
// FIGURES-NEXT: "multiply-adds of 3 nodes are not known (2 Mystery, 1 Riddle): their sizes are open (--dim NAME=SIZE), or no table has them",
// FIGURES-NEXT: "bodies of 1 loops count as if they ran once"
// FIGURES-NEXT: ]
// FIGURES-NEXT: "unsure": {
// FIGURES-NEXT: "doubtful": {
// FIGURES-NEXT: "op_type": "Relu"
// FIGURES: "source": {
// FIGURES-NEXT: "file": "net.py",
// FIGURES-NEXT: "line": 7
// FIGURES: "evidence": "alignment",
// FIGURES-NEXT: "confidence": 0.25
// FIGURES: "lost": {
// FIGURES: "tag": null
// FIGURES-NOT: "op_type"
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "demo.Layer" aliases ["other"] parameters [#htp.parameter<"weight" : tensor<4x4xf32>>]
}
func.func @main_graph(%x: tensor<1x4xf32> {onnx.name = "x"}, %n: tensor<i64> {onnx.name = "n"}, %c: tensor<i1> {onnx.name = "c"}) -> (tensor<1x4xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, htp.parameter = "layer.weight", onnx_output_names = ["w"]} : () -> tensor<4x4xf32>
  %0 = "onnx.MatMul"(%x, %w) {onnx_node_name = "product", htp.tag = #htp.tag<"layer">} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = "onnx.Relu"(%0) {onnx_node_name = "doubtful", htp.tag = #htp.tag<"layer", evidence = "alignment", confidence = 0.25>} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc(fused<{htp.scope = "layer", htp.sources = 1 : i64}>["net.py":7:0])
  %2 = "onnx.Custom"(%1) {domain_name = "com.microsoft", function_name = "Riddle", htp.tag = #htp.tag<"">} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = "onnx.Custom"(%2) {domain_name = "com.microsoft", function_name = "Mystery", htp.tag = #htp.tag<"">} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %4 = "onnx.Custom"(%3) {domain_name = "com.microsoft", function_name = "Mystery", htp.tag = #htp.tag<"">} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %5 = "onnx.Neg"(%4) {onnx_node_name = "lost"} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %6 = "onnx.Loop"(%n, %c, %5) ({
  ^bb0(%number: tensor<i64>, %go: tensor<i1>, %state: tensor<1x4xf32>):
    %7 = "onnx.Abs"(%state) {htp.tag = #htp.tag<"">} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    onnx.Yield %go, %7 : tensor<i1>, tensor<1x4xf32>
  }) {onnx.regions = ["body"], htp.tag = #htp.tag<"">} : (tensor<i64>, tensor<i1>, tensor<1x4xf32>) -> tensor<1x4xf32>
  onnx.Return %6 : tensor<1x4xf32>
}
