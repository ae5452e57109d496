// Nodes in regions of modules and in functions are as if they were in the graph itself.
// RUN: htp-opt %s -o= --op-metadata | %python -m json.tool --indent 1 | FileCheck %s

// Tags in an htp.region are as they are elsewhere; what reads its result reads the node that made it.
// CHECK: "inside": {
// CHECK: "inputs": [
// CHECK-NEXT: "x"
// CHECK: "outputs": [
// CHECK-NEXT: "made"
// CHECK: "scope": "layer"
// CHECK: "after": {
// CHECK: "inputs": [
// CHECK-NEXT: "made"

// Nodes of a function are of the module that the call is of, unless they say otherwise, for each call anew.
// CHECK: "first/untagged": {
// CHECK: "inputs": [
// CHECK-NEXT: "after:0"
// CHECK: "scope": "layer"
// CHECK: "first/tagged": {
// CHECK: "scope": "layer.act"
// CHECK: "second/untagged": {
// CHECK: "scope": "other"
// CHECK: "second/tagged": {
// CHECK: "scope": "other.act"
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "demo.Layer"
  htp.module @layer.act : "demo.Act"
  htp.module @other : "demo.Layer"
  htp.module @other.act : "demo.Act"
}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %0 = htp.region "layer" : tensor<4xf32> {
    %1 = "onnx.Relu"(%x) {onnx_node_name = "inside", onnx_output_names = ["made"], htp.tag = #htp.tag<"layer">} : (tensor<4xf32>) -> tensor<4xf32>
    htp.yield %1 : tensor<4xf32>
  }
  %2 = "onnx.Neg"(%0) {onnx_node_name = "after", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = call @Layer(%2) {onnx_node_name = "first", htp.tag = #htp.tag<"layer">} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = call @Layer(%3) {onnx_node_name = "second", htp.tag = #htp.tag<"other">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %4 : tensor<4xf32>
}
func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer"} {
  %0 = "onnx.Exp"(%x) {onnx_node_name = "untagged"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Abs"(%0) {onnx_node_name = "tagged", htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %1 : tensor<4xf32>
}
