// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy=trace=%S/Inputs/net.trace.json 2>&1 | FileCheck %s

// The user's word in a file stands when it is tagged again, with a trace too; a tag of HTP's own is found anew. An
// override that names a module which the model does not have is dropped, not silently.

// CHECK: warning: 1 overrides of an earlier run name modules that are not in the tree, the first is 'gone'; they are dropped
// CHECK-LABEL: func @main
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "override"
  %0 = "t.Relu"(%x) {onnx_node_name = "/act/Relu", htp.tag = #htp.tag<"layer.0", evidence = "override">} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"act", evidence = "name"
  %1 = "t.Relu"(%0) {onnx_node_name = "/act/Relu_1", htp.tag = #htp.tag<"layer.0", evidence = "alignment", confidence = 0.99>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"act", evidence = "name"
  %2 = "t.Relu"(%1) {onnx_node_name = "/act/Relu_2", htp.tag = #htp.tag<"gone", evidence = "override">} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
