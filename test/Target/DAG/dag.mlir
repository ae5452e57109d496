// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --dag-json | FileCheck %s
// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --dag-json --dag-modules=all | FileCheck %s --check-prefix=ALL
// RUN: htp-opt %s -o /dev/null --dag-json | FileCheck %s --check-prefix=BODY

// The tags of a file serve as well as those of the IR.
// RUN: htp-opt %S/../Inputs/net.mlir -o %t.onnx
// RUN: htp-opt %t.onnx -o= --dag-json | FileCheck %s

// A parent has what its children have. Constants are left out, and no edge is
// made through them; an edge that two values make is written once. The node
// without a name is named after its type, the second "mask" after its place.

// CHECK: {"/Net":{"nodes":["/layers.0/fc/MatMul","Add#2","mask","mask#4"],
// CHECK-SAME: "edges":{{\[}}["/layers.0/fc/MatMul","Add#2"],["Add#2","mask"],["mask","mask#4"]]},
// CHECK-SAME: "/Net/Block.0":{"nodes":["/layers.0/fc/MatMul","Add#2"],"edges":{{\[}}["/layers.0/fc/MatMul","Add#2"]]},
// CHECK-SAME: "/Net/Block.1":{"nodes":["mask#4"],"edges":[]}}

// ALL: {"/Net":{
// ALL-SAME: "/Net/ModuleList":{
// ALL-SAME: "/Net/ModuleList/Block.0":{"nodes":["/layers.0/fc/MatMul","Add#2"],
// ALL-SAME: "/Net/ModuleList/Block.0/Linear":{"nodes":["/layers.0/fc/MatMul"],"edges":[]}

// Operations in a body are operations of the graph; what they take from
// outside is an edge, what the body gives back is none.
// BODY: {"/Net":{"nodes":["cond","relu","if","neg","exp"],
// BODY-SAME: "edges":{{\[}}["cond","if"],["relu","neg"]]}}
htp.hierarchy @Net : "net.Net" {
}
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "onnx.Cast"(%x) {to = i1, onnx_node_name = "cond", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<i1>
  %r = "onnx.Relu"(%x) {onnx_node_name = "relu", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %i = "onnx.If"(%c) ({
    %n = "onnx.Neg"(%r) {onnx_node_name = "neg", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %n : tensor<4xf32>
  }, {
    %e = "onnx.Exp"(%x) {onnx_node_name = "exp", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %e : tensor<4xf32>
  }) {onnx_node_name = "if", htp.tag = #htp.tag<"">} : (tensor<i1>) -> tensor<4xf32>
  onnx.Return %i : tensor<4xf32>
}
