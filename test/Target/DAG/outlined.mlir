// RUN: htp-opt %s --dag-json | FileCheck %s
// RUN: htp-opt %s --op-metadata | %python -m json.tool --indent 1 | FileCheck %s --check-prefix=OPS
// RUN: htp-opt %s --graphml=%t.graphml --dag-json=%t.json && %python %S/../Inputs/check_graphml.py %t.graphml %t.json 6
// RUN: htp-opt %s --summary | FileCheck %s --check-prefix=SUMMARY

// A call is no operation: it stands for the module whose operations the function
// holds, once for each call, and edges go through it.

// CHECK: {"/Net":{"nodes":["layers.0/relu","layers.0/act/exp","layers.1/relu","layers.1/act/exp","end"],
// CHECK-SAME: "edges":{{\[}}["layers.0/relu","layers.0/act/exp"],["layers.0/act/exp","layers.1/relu"],["layers.1/relu","layers.1/act/exp"],["layers.1/act/exp","end"]]},
// CHECK-SAME: "/Net/Block.0":{"nodes":["layers.0/relu","layers.0/act/exp"],"edges":{{\[}}["layers.0/relu","layers.0/act/exp"]]},
// CHECK-SAME: "/Net/Block.0/Act":{"nodes":["layers.0/act/exp"],"edges":[]}
// CHECK-SAME: "/Net/Block.1":{"nodes":["layers.1/relu","layers.1/act/exp"]

// OPS: "functions": {
// OPS: "Block": {
// OPS: "node": "layers.0"
// OPS-NEXT: "scope": "layers.0"
// OPS: "node": "layers.1"
// OPS-NEXT: "scope": "layers.1"
// OPS: "Act": {
// OPS: "node": "layers.0/act"
// OPS-NEXT: "scope": "layers.0.act"
// OPS: "layers.1/act/exp": {
// OPS: "inputs": [
// OPS-NEXT: "layers.1/r"
// OPS: "scope": "layers.1.act"

// SUMMARY: functions 2, called 4 times
htp.hierarchy @Net : "net.Net" {
  htp.module @layers.0 : "net.Block"
  htp.module @layers.0.act : "net.Act"
  htp.module @layers.1 : "net.Block"
  htp.module @layers.1.act : "net.Act"
}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %0 = call @Block(%x) {onnx_node_name = "layers.0", htp.tag = #htp.tag<"layers.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @Block(%0) {onnx_node_name = "layers.1", htp.tag = #htp.tag<"layers.1">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Neg"(%1) {onnx_node_name = "end", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %2 : tensor<4xf32>
}
func.func private @Block(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layers.0"} {
  %0 = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_output_names = ["r"], htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @Act(%0) {onnx_node_name = "act", htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %1 : tensor<4xf32>
}
func.func private @Act(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layers.0.act"} {
  %0 = "onnx.Exp"(%x) {onnx_node_name = "exp", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
