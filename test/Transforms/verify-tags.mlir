// RUN: htp-opt %s -allow-unregistered-dialect --htp-verify-tags=report -split-input-file -verify-diagnostics

// What is counted.

// expected-remark @below {{nodes 3, tagged 3, contaminated 0; evidence: name 2 consumer 1; confidence from 0.0 to 0.9: 0 0 0 0 0 1 0 0 0 2}}
module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
    htp.module @layers.1 : "demo.Layer" calls 2
  }
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = "t.Constant"() {onnx.initializer, htp.parameter = "layers.0.w", htp.users = ["layers.0", ""]} : () -> tensor<2xf32>
    %0 = "t.Relu"(%x) {htp.tag = #htp.tag<"layers.0", evidence = "name">, onnx_node_name = "/layers.0/Relu"} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "t.Relu"(%0) {htp.tag = #htp.tag<"layers.1", call = 1, evidence = "name", confidence = 0.9>} : (tensor<2xf32>) -> tensor<2xf32> loc(fused<{htp.call = 1 : i64, htp.scope = "layers.1"}>["r"])
    %2 = "t.Relu"(%1) {htp.tag = #htp.tag<"", evidence = "consumer", confidence = 0.5>} : (tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}

// -----

// A node that its value's name places in another layer. Its own name is that of a node that an optimizer replaced.

// expected-remark @below {{nodes 2, tagged 2, contaminated 1}}
module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
    htp.module @layers.1 : "demo.Layer"
  }
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    // expected-warning @+2 {{is contaminated: tagged with 'layers.1', but its name '/layers.0/Relu_output_0' places it in 'layers.0'}}
    // expected-note @+1 {{the tag rests on evidence 'producer': a guess}}
    %0 = "t.Relu"(%x) {htp.tag = #htp.tag<"layers.1", evidence = "producer", reason = "a guess">, onnx_node_name = "/layers.1/Relu/Fused", onnx_output_names = ["/layers.0/Relu_output_0"]} : (tensor<2xf32>) -> tensor<2xf32>
    // What the layers share is not another layer.
    %1 = "t.Relu"(%0) {htp.tag = #htp.tag<"", evidence = "ancestor">, onnx_node_name = "/layers.0/Relu_1"} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
