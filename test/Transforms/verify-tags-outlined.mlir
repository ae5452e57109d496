// In the body of an outlined function tags are relative to its module: they are
// verified, and counted, as what they are seen from the root.
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline --htp-verify-tags=report 2>&1 | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=form=region --htp-verify-tags=report 2>&1 | FileCheck %s --check-prefix=REGION
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline | sed 's/htp.tag<"act"/htp.tag<"none"/' | not htp-opt -allow-unregistered-dialect --htp-verify-tags 2>&1 | FileCheck %s --check-prefix=BAD

// Three ops of one body, and two calls.
// CHECK: remark: nodes 5, tagged 5, contaminated 0; evidence: none 2 name 3;
// REGION: remark: nodes 6, tagged 6, contaminated 0; evidence: name 6;
// BAD: error: {{.*}}tag names the module 'layers.0.none', which is not in the tree
// BAD: note: the nearest module of this tree is 'layers.0'
module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
    htp.module @layers.0.act : "torch.nn.modules.activation.ReLU" torch_nn
    htp.module @layers.1 : "demo.Layer"
    htp.module @layers.1.act : "torch.nn.modules.activation.ReLU" torch_nn
  }
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "t.Neg"(%x) {htp.tag = #htp.tag<"layers.0", evidence = "name">, onnx_node_name = "/layers.0/Neg"} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "t.Abs"(%0) {htp.tag = #htp.tag<"layers.0", evidence = "name">, onnx_node_name = "/layers.0/Abs"} : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "t.Relu"(%1) {htp.tag = #htp.tag<"layers.0.act", evidence = "name">, onnx_node_name = "/layers.0/act/Relu"} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = "t.Neg"(%2) {htp.tag = #htp.tag<"layers.1", evidence = "name">, onnx_node_name = "/layers.1/Neg"} : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "t.Abs"(%3) {htp.tag = #htp.tag<"layers.1", evidence = "name">, onnx_node_name = "/layers.1/Abs"} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = "t.Relu"(%4) {htp.tag = #htp.tag<"layers.1.act", evidence = "name">, onnx_node_name = "/layers.1/act/Relu"} : (tensor<2xf32>) -> tensor<2xf32>
    return %5 : tensor<2xf32>
  }
}
