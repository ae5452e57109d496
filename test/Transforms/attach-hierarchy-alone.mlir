// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Without a trace. A model that was tagged before keeps its answers.

module {
  // CHECK: htp.hierarchy @Net : "demo.Net" {
  // CHECK-NEXT: htp.module @fc : "demo.Block" calls 2
  htp.hierarchy @Net : "demo.Net" {
    htp.module @fc : "demo.Block" calls 2
  }
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    // CHECK: htp.tag = #htp.tag<"fc", call = 1, evidence = "alignment", confidence = 0.5, contexts = [#htp.context<"", evidence = "consumer", confidence = 0.25>]>
    %0 = "t.Relu"(%x) {onnx_node_name = "/fc/Relu", htp.tag = #htp.tag<"fc", call = 1, evidence = "alignment", confidence = 0.5, contexts = [#htp.context<"", evidence = "consumer", confidence = 0.25>]>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// Notes of the exporter.

module {
  // CHECK: htp.hierarchy @Net : "demo.Net" {
  // CHECK-NEXT: htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn parameters [#htp.parameter<"weight" : none>]
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["fc.weight"], value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
    // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"fc", evidence = "metadata"
    %0 = "t.MatMul"(%x) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'fc', 'linear']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'torch.nn.modules.linear.Linear', 'aten.linear.default']"]]} : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"fc", evidence = "parameter"
    %1 = "t.Add"(%0, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}

// -----

// Names: the tree has the module `model`, which never runs, in no scope; parameters know it.

module {
  // CHECK: htp.hierarchy @model : "" {
  // CHECK-NEXT: htp.module @model : "" torch_nn calls 0
  // CHECK-NEXT: htp.module @model.fc : "" calls 2 parameters [#htp.parameter<"weight" : none>]
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["model.fc.weight"], value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
    // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"model.fc", evidence = "name"
    %0 = "t.MatMul"(%x) {onnx_node_name = "/fc/MatMul"} : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"model.fc", call = 1, evidence = "name"
    %1 = "t.MatMul"(%0) {onnx_node_name = "/fc_1/MatMul"} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
