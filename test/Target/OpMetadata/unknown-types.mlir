// RUN: htp-opt %s -o /dev/null --op-metadata | %python -m json.tool --indent 1 | FileCheck %s
// RUN: htp-opt %s -o /dev/null --dag-json | %python -m json.tool --indent 1 | FileCheck %s --check-prefix=DAG

// The type of what an unknown op makes is none: it has a name all the same, and
// an edge to its reader. An input that is left out has not.

// CHECK: "first": {
// CHECK-NEXT: "op_type": "Unknown"
// CHECK: "outputs": [
// CHECK-NEXT: "y"
// CHECK: "second": {
// CHECK-NEXT: "op_type": "Clip"
// CHECK: "inputs": [
// CHECK-NEXT: "y",
// CHECK-NEXT: "",
// CHECK-NEXT: "x"

// DAG: "edges": [
// DAG-NEXT: [
// DAG-NEXT: "first",
// DAG-NEXT: "second"
module {
  htp.hierarchy @Net : "demo.Net" {
  }
  func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "z"}) {
    %none = "onnx.NoValue"() <{value}> : () -> none
    %y = "onnx.Custom"(%x) <{function_name = "Unknown"}> {domain_name = "demo", onnx_node_name = "first", onnx_output_names = ["y"], htp.tag = #htp.tag<"">} : (tensor<2xf32>) -> none
    %z = "onnx.Clip"(%y, %none, %x) {onnx_node_name = "second", onnx_output_names = ["z"], htp.tag = #htp.tag<"">} : (none, none, tensor<2xf32>) -> tensor<2xf32>
    return %z : tensor<2xf32>
  }
}
