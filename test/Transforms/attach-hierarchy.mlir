// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy=trace=%S/Inputs/net.trace.json -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Names: a child of a called Sequential repeats it, a second call adds _1.

// CHECK: htp.hierarchy @Net : "demo.Net" attributes {htp.matched = array<i64: 0, 2>, htp.producer = {name = "hand", source = "export"}} {
// CHECK: htp.module @layer : "torch.nn.modules.container.Sequential" torch_nn
// CHECK: htp.module @layer.0 : "torch.nn.modules.linear.Linear" torch_nn calls 2 parameters [#htp.parameter<"weight" : tensor<2x2xf32>, hash = 1, values = 2>
// CHECK: htp.module @act : "demo.Act"
// CHECK-LABEL: func @names
func.func @names(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = {{[0-9.]+}}, reason = "the node's name">{{.*}}loc(fused<{htp.scope = "layer.0"}>["m"])
  %0 = "t.MatMul"(%x, %x) {onnx_node_name = "/layer/layer.0/MatMul"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("m")
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", call = 1, evidence = "name"{{.*}}loc(fused<{htp.call = 1 : i64, htp.scope = "layer.0"}>
  %1 = "t.MatMul"(%0, %x) {onnx_node_name = "/layer/layer.0_1/MatMul"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // An optimizer's node: its value's name says more than its own.
  // CHECK: "t.FusedGemm"{{.*}}htp.tag = #htp.tag<"act", evidence = "value-name", confidence = {{[0-9.]+}}, reason = "the name of its value", contexts = [#htp.context<"layer.0", evidence = "name", confidence = {{[0-9.]+}}>]>
  %2 = "t.FusedGemm"(%1, %x) {onnx_node_name = "/layer/layer.0/Gemm/GemmActivationFusion", onnx_output_names = ["/act/Relu_output_0"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // A third call that never was, a module that the tree does not have: no answer.
  // CHECK: "t.Add"(%{{.*}}, %{{.*}}) {onnx_node_name = "/layer/layer.0_2/Add"}
  %3 = "t.Add"(%2, %x) {onnx_node_name = "/layer/layer.0_2/Add"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Add"(%{{.*}}, %{{.*}}) {onnx_node_name = "/nowhere/Add"}
  %4 = "t.Add"(%3, %x) {onnx_node_name = "/nowhere/Add"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"", evidence = "name"
  %5 = "t.Add"(%4, %x) {onnx_node_name = "/Add"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}

// -----

// Notes of the torch.export-based exporter: the call and the line come from the trace, where the notes have none.

// CHECK-LABEL: func @notes
func.func @notes(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", call = 1, evidence = "metadata", confidence = {{[0-9.]+}}, reason = "pkg.torch.onnx.name_scopes">{{.*}}loc(fused<{htp.call = 1 : i64, htp.scope = "layer.0", htp.sources = 1 : i64}>["m", "net.py":7:0])
  %0 = "t.MatMul"(%x) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'layer', 'layer.0', 'linear_1']"]]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("m")
  // CHECK: "t.Relu"{{.*}}loc(fused<{htp.scope = "act", htp.sources = 1 : i64}>["r", "b.py":12:0])
  %1 = "t.Relu"(%0) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'act', 'relu']"], ["pkg.torch.onnx.stack_trace", "File \22a.py\22, line 3, in f\0A  File \22b.py\22, line 12, in forward"]]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("r")
  // A decomposition numbered its values anew: this one has another shape than the traced one of its name.
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "metadata"
  %2 = "t.Add"(%0) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'layer', 'layer.0', 'linear_1']"]], onnx_output_names = ["linear_1"]} : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// Parameters, through copies, and values that have the traced values' names.

// CHECK-LABEL: func @parameters
func.func @parameters(%x: tensor<2x2xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  // The tags of its readers say who reads it.
  // CHECK: "t.Constant"() {htp.parameter = "layer.0.weight", onnx.initializer
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // Nobody reads this one: the trace says who would.
  // CHECK: "t.Constant"() {htp.parameter = "layer.0.bias", htp.users = ["layer.0"], onnx.initializer
  %b = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.bias"], value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // CHECK: "t.Transpose"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "parameter", confidence = {{[^,]*}}, reason = "copy of a parameter, by name">
  %t = "t.Transpose"(%w) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "parameter", confidence = {{[^,]*}}, reason = "reads a parameter, by name">
  %0 = "t.MatMul"(%x, %t) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "value-name", confidence = {{[^,]*}}, reason = "its value is named like a traced one">
  %1 = "t.Add"(%0) {onnx_output_names = ["linear"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"act", evidence = "value-name"
  %2 = "t.Relu"(%1) {onnx_output_names = ["relu"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // The name of a traced value, with other inputs than the traced op's.
  // CHECK: "t.Gemm"(%{{[^)]*}}) {onnx_output_names = ["linear_1"]}
  %3 = "t.Gemm"(%1) {onnx_output_names = ["linear_1"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// -----

// Where an exporter drops an op that does nothing, the node before it takes over its name: no node of the traced op's kind.

// CHECK-LABEL: func @dropped
func.func @dropped(%x: tensor<2x2xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "parameter"
  %0 = "t.MatMul"(%x, %w) {onnx_output_names = ["relu"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A quantizer's node takes over the name of the value that it recodes.

// CHECK-LABEL: func @recoded
func.func @recoded(%x: tensor<2x2xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "t.MatMul"(%x, %w) {onnx_output_names = ["linear_raw"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.DequantizeLinear"{{.*}}htp.tag = #htp.tag<"act", evidence = "value-name"
  %1 = "t.DequantizeLinear"(%0) {onnx_output_names = ["relu"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A fused node has the name of the first op in it. Where its value has none, nothing says what the last one was.

// CHECK-LABEL: func @first_of_fused
func.func @first_of_fused(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: "t.FusedGemm"{{.*}}htp.tag = #htp.tag<"act", evidence = "name", confidence = {{[0-9.]+}}
  %0 = "t.FusedGemm"(%x) {domain_name = "com.microsoft", onnx_node_name = "/act/FusedGemm", onnx_output_names = ["7"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A module that runs twice: the readers of its parameter are in the order of its calls.

// CHECK-LABEL: func @calls
func.func @calls(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", evidence = "parameter"
  %0 = "t.MatMul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"layer.0", call = 1, evidence = "parameter"
  %1 = "t.MatMul"(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // A fused node may belong to an op without parameters.
  // CHECK: "t.Custom"(%{{[^)]*}}) {domain_name = "com.microsoft", function_name = "FusedGemm"}
  %2 = "t.Custom"(%1, %w) {function_name = "FusedGemm", domain_name = "com.microsoft"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
