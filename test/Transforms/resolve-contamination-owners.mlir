// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file -htp-resolve-contamination -mlir-use-nameloc-as-prefix | FileCheck %s

// A node that is tagged with another module than the one whose parameters it reads. Nothing explains it: the tag is not sure,
// and the owner is a context.

// CHECK-LABEL: @contradicts
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.8{{[0-9]*}}, contexts = [#htp.context<"attention.proj", evidence = "parameter", confidence = 0.1
htp.hierarchy @Net : "demo.Net" {
  htp.module @attention : "demo.Attention"
  htp.module @attention.proj : "torch.nn.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
}
func.func @contradicts(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "attention.proj.weight", onnx_output_names = ["attention.proj.weight"]} : () -> tensor<2x2xf32>
  %y = "d.MatMul"(%x, %w) {htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// A trace saw the attention read the weight of its projection, which it never calls: the tag stands.

// CHECK-LABEL: @seen
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.99>}
htp.hierarchy @Net : "demo.Net" {
  htp.module @attention : "demo.Attention"
  htp.module @attention.proj : "torch.nn.Linear" torch_nn calls 0 parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
}
func.func @seen(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "attention.proj.weight", htp.users = ["attention"], onnx_output_names = ["attention.proj.weight"]} : () -> tensor<2x2xf32>
  %y = "d.MatMul"(%x, %w) {htp.tag = #htp.tag<"attention", evidence = "name", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// What a module's hook computes (a weight norm), a trace ascribes to the module around it. The module is called: it may be its
// own work. So it may be where a trace knows of no module, only of the root.

// CHECK-LABEL: @in_a_hook
// CHECK: "d.Div"
// CHECK-SAME: htp.tag = #htp.tag<"block", evidence = "name", confidence = 0.8
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"", evidence = "name", confidence = 0.8
htp.hierarchy @Net : "demo.Net" {
  htp.module @block : "demo.Block"
  htp.module @block.fc : "torch.nn.Linear" torch_nn parameters [#htp.parameter<"weight_v" : tensor<2x2xf32>>]
  htp.module @block.unknown : "torch.nn.Linear" torch_nn calls 0 parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
}
func.func @in_a_hook(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %v = "t.Constant"() {onnx.initializer, htp.parameter = "block.fc.weight_v", htp.users = ["block"], onnx_output_names = ["block.fc.weight_v"]} : () -> tensor<2x2xf32>
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "block.unknown.weight", htp.users = [""], onnx_output_names = ["block.unknown.weight"]} : () -> tensor<2x2xf32>
  %y = "d.Div"(%v) {htp.tag = #htp.tag<"block", evidence = "name", confidence = 0.99>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = "d.MatMul"(%y, %w) {htp.tag = #htp.tag<"", evidence = "name", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}

// -----

// A fused node does what the owner does and what the module in its tag does: the tag stands. An operator on quantized tensors
// is not fused.

// CHECK-LABEL: @fused
// CHECK: "onnx.Custom"
// CHECK-SAME: htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.99>
// CHECK: "onnx.Custom"
// CHECK-SAME: htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.8{{[0-9]*}}, contexts = [#htp.context<"fc", evidence = "parameter"
htp.hierarchy @Net : "demo.Net" {
  htp.module @fc : "torch.nn.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
  htp.module @act : "torch.nn.ReLU" torch_nn
}
func.func @fused(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "fc.weight", onnx_output_names = ["fc.weight"]} : () -> tensor<2x2xf32>
  %y = "onnx.Custom"(%x, %w) {domain_name = "com.microsoft", function_name = "FusedGemm", htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = "onnx.Custom"(%y, %w) {domain_name = "com.microsoft", function_name = "MatMulNBits", htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}

// -----

// An optimizer packed the weights of two projections into one: the product is their parent's, which does the work of both. It is
// not that of another module.

// CHECK-LABEL: @packed
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"attention", evidence = "alignment", confidence = 0.99>
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.8
htp.hierarchy @Net : "demo.Net" {
  htp.module @attention : "demo.Attention"
  htp.module @attention.k : "torch.nn.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
  htp.module @attention.q : "torch.nn.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<2x2xf32>>]
  htp.module @act : "torch.nn.ReLU" torch_nn
}
func.func @packed(%x: tensor<2x2xf32>) -> tensor<2x4xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "attention.q.weight", htp.users = ["attention.q", "attention.k"], onnx_output_names = ["attention.q.weight"]} : () -> tensor<2x4xf32>
  %y = "d.MatMul"(%x, %w) {htp.tag = #htp.tag<"attention", evidence = "alignment", confidence = 0.99>} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = "d.MatMul"(%y, %w) {htp.tag = #htp.tag<"act", evidence = "alignment", confidence = 0.99>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// -----

// A list of parameters is a module that nobody can call: the model reads them itself. The trace knows which modules are called.

// CHECK-LABEL: @list
// CHECK: "d.Mul"
// CHECK-SAME: htp.tag = #htp.tag<"", evidence = "name", confidence = 0.99>
htp.hierarchy @Net : "demo.Net" {
  htp.module @act : "torch.nn.ReLU" torch_nn
  htp.module @scales : "torch.nn.ParameterList" torch_nn calls 0 parameters [#htp.parameter<"0" : tensor<2xf32>>]
}
func.func @list(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "scales.0", htp.users = [""], onnx_output_names = ["scales.0"]} : () -> tensor<2xf32>
  %y = "d.Mul"(%x, %w) {htp.tag = #htp.tag<"", evidence = "name", confidence = 0.99>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A convolution that absorbed a norm whose mean is 0 has the norm's bias, recognised by its contents. The weight, and a bias of
// that name, are another matter.

// CHECK-LABEL: @folded
// CHECK: "onnx.Conv"
// CHECK-SAME: htp.tag = #htp.tag<"conv", evidence = "name", confidence = 0.99>
// CHECK: "onnx.Conv"
// CHECK-SAME: htp.tag = #htp.tag<"conv", evidence = "name", confidence = 0.8
htp.hierarchy @Net : "demo.Net" {
  htp.module @conv : "torch.nn.Conv2d" torch_nn
  htp.module @norm : "torch.nn.BatchNorm2d" torch_nn parameters [#htp.parameter<"bias" : tensor<2xf32>, hash = 1, values = 2>]
}
func.func @folded(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %b = "t.Constant"() {onnx.initializer, htp.parameter = "norm.bias", onnx_output_names = ["Conv_7"]} : () -> tensor<2xf32>
  %n = "t.Constant"() {onnx.initializer, htp.parameter = "norm.bias", onnx_output_names = ["norm.bias"]} : () -> tensor<2xf32>
  %y = "onnx.Conv"(%x, %w, %b) {htp.tag = #htp.tag<"conv", evidence = "name", confidence = 0.99>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %z = "onnx.Conv"(%y, %w, %n) {htp.tag = #htp.tag<"conv", evidence = "name", confidence = 0.99>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %z : tensor<1x2x4x4xf32>
}

// -----

// The norms of an untrained model are equal, and an exporter stored one of them for both. The second reads its own.

// CHECK-LABEL: @stored_once
// CHECK: "d.Norm"
// CHECK-SAME: htp.tag = #htp.tag<"b", evidence = "metadata", confidence = 0.99>
// CHECK: "d.Norm"
// CHECK-SAME: htp.tag = #htp.tag<"c", evidence = "metadata", confidence = 0.8
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "torch.nn.LayerNorm" torch_nn parameters [#htp.parameter<"weight" : tensor<2xf32>, hash = 1, values = 2>]
  htp.module @b : "torch.nn.LayerNorm" torch_nn parameters [#htp.parameter<"weight" : tensor<2xf32>, hash = 1, values = 2>]
  htp.module @c : "torch.nn.LayerNorm" torch_nn parameters [#htp.parameter<"weight" : tensor<2xf32>, hash = 3, values = 4>]
}
func.func @stored_once(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = "t.Constant"() {onnx.initializer, htp.parameter = "a.weight", onnx_output_names = ["a.weight"]} : () -> tensor<2xf32>
  %y = "d.Norm"(%x, %w) {htp.tag = #htp.tag<"b", evidence = "metadata", confidence = 0.99>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %z = "d.Norm"(%y, %w) {htp.tag = #htp.tag<"c", evidence = "metadata", confidence = 0.99>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// An argument whose list of readers is none: nothing is known of them.

// CHECK-LABEL: @no_list
// CHECK: "d.MatMul"
// CHECK-SAME: htp.tag = #htp.tag<"b", evidence = "name", confidence = 0.8
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @b : "demo.B"
}
func.func @no_list(%x: tensor<2xf32>, %w: tensor<2xf32> {onnx.name = "a.w", htp.parameter = "a.w", htp.users = [1]}) -> tensor<2xf32> {
  %y = "d.MatMul"(%x, %w) {htp.tag = #htp.tag<"b", evidence = "name", confidence = 0.99>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
