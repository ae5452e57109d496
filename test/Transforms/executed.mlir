// RUN: split-file %s %t
// RUN: htp-opt %t/net.mlir -allow-unregistered-dialect --htp-attach-hierarchy=executed=%t/net.json | FileCheck %t/net.mlir
// RUN: htp-opt %t/names.mlir -allow-unregistered-dialect --htp-attach-hierarchy=executed=%t/net.json | FileCheck %t/names.mlir
// RUN: htp-opt %t/net.mlir -allow-unregistered-dialect --htp-tag="executed=%t/net.json explain=s" -o /dev/null 2>&1 | FileCheck %t/net.mlir --check-prefix=EXPLAIN

//--- net.json
{"format": "htp-executed", "version": 1,
 "modules": [
   {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
   {"path": "block", "class": "Block", "qualified": "demo.Block", "torch_nn": false, "calls": 1, "parameters": []},
   {"path": "block.norm", "class": "Norm", "qualified": "demo.Norm", "torch_nn": false, "calls": 1, "parameters": []},
   {"path": "block.act", "class": "Tanh", "qualified": "torch.nn.Tanh", "torch_nn": true, "calls": 2, "parameters": []},
   {"path": "conv", "class": "Conv2d", "qualified": "torch.nn.Conv2d", "torch_nn": true, "calls": 1, "parameters": []},
   {"path": "bn", "class": "BatchNorm2d", "qualified": "torch.nn.BatchNorm2d", "torch_nn": true, "calls": 1, "parameters": []},
   {"path": "gone", "class": "Gone", "qualified": "demo.Gone", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [
   {"module": "", "call": 0, "takes": ["x"], "returns": ["y"]},
   {"module": "block", "call": 0, "parent": 0, "takes": ["x"], "returns": ["s"]},
   {"module": "block.norm", "call": 0, "parent": 1, "takes": ["x"], "returns": ["n"]},
   {"module": "block.act", "call": 0, "parent": 1, "takes": ["n"], "returns": ["a"]},
   {"module": "block.act", "call": 1, "parent": 1, "takes": ["m"], "returns": ["s"]},
   {"module": "conv", "call": 0, "parent": 0, "takes": ["s"], "returns": [], "partly": true},
   {"module": "bn", "call": 0, "parent": 0, "takes": [], "returns": ["c", "r"], "near": ["r"], "open": true},
   {"module": "gone", "call": 0, "parent": 0, "takes": ["r"], "returns": ["y"], "near": ["y"]}],
 "unclear": ["k", "same"]}

//--- net.mlir
// Without names: the tree is the file's.

// CHECK: htp.hierarchy @Net
// CHECK: htp.module @block.act : "torch.nn.Tanh"
// CHECK-LABEL: func @main
func.func @main(%x: tensor<2x2xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "y"}, tensor<2x2xf32>) {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["w"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // Between what 'block.norm' took and returned.
  // CHECK: "t.Mul"{{.*}}htp.tag = #htp.tag<"block.norm", evidence = "executed", {{.*}}reason = "lies between what the module took and what it returned when it ran">
  %0 = "t.Mul"(%x, %w) {onnx_output_names = ["i"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"block.norm", evidence = "executed", {{.*}}reason = "makes what the module returned when it ran">
  %1 = "t.Add"(%0, %w) {onnx_output_names = ["n"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Tanh"{{.*}}htp.tag = #htp.tag<"block.act", evidence = "executed"
  %2 = "t.Tanh"(%1) {onnx_output_names = ["a"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // A copy is on either side of a border.
  // CHECK: "t.Cast"(
  // CHECK-NOT: htp.tag
  %3 = "t.Cast"(%2) {onnx_output_names = ["k"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // What no call inside 'block' has is its own.
  // CHECK: "t.Sub"{{.*}}htp.tag = #htp.tag<"block", evidence = "executed"
  %4 = "t.Sub"(%3, %x) {onnx_output_names = ["m"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // The innermost call that returned it; and which call of the two it is.
  // CHECK: "t.Tanh"{{.*}}htp.tag = #htp.tag<"block.act", call = 1, evidence = "executed"
  // EXPLAIN: node 's' (Tanh) belongs to 'block.act' (Tanh), call 1
  // EXPLAIN-NEXT: evidence: executed (a run of the model and of the graph has the same values at the module's borders), confidence
  %5 = "t.Tanh"(%4) {onnx_output_names = ["s"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // The convolution took in the norm, whose result it now makes: it is still the convolution.
  // CHECK: "t.Conv"(
  // CHECK-NOT: htp.tag
  %6 = "t.Conv"(%5, %w) {onnx_output_names = ["c"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // Another node may have been fused.
  // CHECK: "t.Clip"{{.*}}htp.tag = #htp.tag<"bn", evidence = "executed", {{.*}}reason = "makes what the module returned when it ran, perhaps with what ran before">
  %7 = "t.Clip"(%6) {onnx_output_names = ["r"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // Sizes are handed on as numbers, and 'Log' is read outside as well.
  // CHECK: "t.Shape"(
  // CHECK-NOT: htp.tag
  %8 = "t.Shape"(%7) {onnx_output_names = ["z"]} : (tensor<2x2xf32>) -> tensor<2xi64>
  // CHECK: "t.Log"(
  // CHECK-NOT: htp.tag
  %9 = "t.Log"(%7) {onnx_output_names = ["l"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Exp"{{.*}}htp.tag = #htp.tag<"gone", evidence = "executed", {{.*}}reason = "lies between
  %10 = "t.Exp"(%9) {onnx_output_names = ["e"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Reshape"{{.*}}htp.tag = #htp.tag<"gone", evidence = "executed", {{.*}}reason = "makes the value nearest to what the module returned when it ran">
  %11 = "t.Reshape"(%10, %8) {onnx_output_names = ["y"]} : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  // CHECK: "t.Neg"(
  // CHECK-NOT: htp.tag
  %12 = "t.Neg"(%9) {onnx_output_names = ["other"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // A copy that only the user of the model reads.
  // CHECK: "t.Cast"{{.*}}htp.tag = #htp.tag<"gone", evidence = "executed"
  %13 = "t.Cast"(%11) {onnx_output_names = ["same"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %11, %13 : tensor<2x2xf32>, tensor<2x2xf32>
}

//--- names.mlir
// Claims are weighed by how often such have been right, and the losers are contexts. A name has been right as often as
// anything; that of an optimizer's node is often that of the first of the nodes that it replaces.

// CHECK-LABEL: func @main
func.func @main(%x: tensor<2x2xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"bn", evidence = "name", {{.*}}contexts = [#htp.context<"block.norm", evidence = "executed"
  %0 = "t.Add"(%x, %x) {onnx_node_name = "/bn/Add", onnx_output_names = ["n"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Fused"{{.*}}htp.tag = #htp.tag<"block.act", evidence = "executed", {{.*}}contexts = [#htp.context<"bn", evidence = "name"
  %1 = "t.Fused"(%0) {domain_name = "other.domain", onnx_node_name = "/bn/Add", onnx_output_names = ["a"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
