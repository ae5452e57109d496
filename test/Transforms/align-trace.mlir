// RUN: htp-opt %s --htp-align-trace=trace=%S/Inputs/two-linears.trace.json --split-input-file | FileCheck %s

// No names at all. The weights are transposed, as exporters write them; their
// values say whose they are. The activations follow from their neighbours, and
// from the order which call of the shared module they are.

// CHECK: htp.hierarchy @Net : "demo.Net"
// CHECK: htp.module @second
// CHECK-LABEL: @nameless
func.func @nameless(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"first", evidence = "parameter"
  %0 = "onnx.MatMul"(%x, %w0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", evidence = "alignment"
  %1 = "onnx.Relu"(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"second", evidence = "parameter"
  %2 = "onnx.MatMul"(%1, %w1) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", call = 1, evidence = "alignment"
  %3 = "onnx.Relu"(%2) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Add"{{.*}}#htp.tag<"", evidence = "alignment"
  %4 = "onnx.Add"(%3, %1) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}

// -----

// What is known already stays, and learns its call.

// CHECK-LABEL: @known
func.func @known(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = "onnx.MatMul"(%1, %w1) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: #htp.tag<"act", call = 1, evidence = "name"
  %3 = "onnx.Relu"(%2) {htp.tag = #htp.tag<"act", evidence = "name">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Add"{{.*}}#htp.tag<"first", evidence = "override"
  %4 = "onnx.Add"(%3, %1) {htp.tag = #htp.tag<"first", evidence = "override">} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}

// -----

// What a parameter told stays as it is where the alignment agrees, with the
// reason; where it does not, the alignment is right: names may be wrong.

// CHECK-LABEL: @agreed
func.func @agreed(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"first", evidence = "parameter", confidence = 0.999, reason = "reads first.weight">
  %0 = "onnx.MatMul"(%x, %w0) {htp.tag = #htp.tag<"first", evidence = "parameter", confidence = 0.999, reason = "reads first.weight">} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.MatMul"{{.*}}#htp.tag<"second", evidence = "parameter"
  // CHECK-NOT: reads first.weight
  %2 = "onnx.MatMul"(%1, %w1) {htp.tag = #htp.tag<"first", evidence = "parameter", confidence = 0.999, reason = "reads first.weight">} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = "onnx.Relu"(%2) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %4 = "onnx.Add"(%3, %1) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}

// -----

// Fused ops are taken apart: the last of what they replace makes the value.

// CHECK-LABEL: @fused
func.func @fused(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "FusedGemm"{{.*}}#htp.tag<"act", evidence
  %0 = "onnx.Custom"(%x, %w0) {function_name = "FusedGemm", domain_name = "com.microsoft", activation = "Relu"} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "FusedGemm"{{.*}}#htp.tag<"act", call = 1, evidence
  %1 = "onnx.Custom"(%0, %w1) {function_name = "FusedGemm", domain_name = "com.microsoft", activation = "Relu"} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Add"{{.*}}#htp.tag<"", evidence
  %2 = "onnx.Add"(%1, %0) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// A tag that rests on next to nothing, the name of the first op of a fused one, gives way.

// CHECK-LABEL: @first_of_fused
func.func @first_of_fused(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  // CHECK: "FusedGemm"{{.*}}#htp.tag<"act", evidence = "alignment"
  %0 = "onnx.Custom"(%x, %w0) {function_name = "FusedGemm", domain_name = "com.microsoft", activation = "Relu", htp.tag = #htp.tag<"first", evidence = "name", confidence = 0.5>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.Custom"(%0, %w1) {function_name = "FusedGemm", domain_name = "com.microsoft", activation = "Relu"} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %2 = "onnx.Add"(%1, %0) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// A product of quantized tensors is one of floats, with what brings it back to
// floats; scales belong to nobody.

// CHECK-LABEL: @quantized
func.func @quantized(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5, 7], [6, 8]]> : tensor<2x2xi8>, onnx.initializer} : () -> tensor<2x2xi8>
  %s1 = "onnx.Constant"() {value = dense<1.0> : tensor<f32>, onnx.initializer} : () -> tensor<f32>
  %z1 = "onnx.Constant"() {value = dense<0> : tensor<i8>, onnx.initializer} : () -> tensor<i8>
  %0 = "onnx.MatMul"(%x, %w0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", evidence = "alignment"
  %1 = "onnx.Relu"(%0) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK: "onnx.DynamicQuantizeLinear"
  // CHECK-NOT: htp.tag
  %q, %s, %z = "onnx.DynamicQuantizeLinear"(%1) : (tensor<1x2xf32>) -> (tensor<1x2xui8>, tensor<f32>, tensor<ui8>)
  // CHECK: "onnx.Mul"
  // CHECK-NOT: htp.tag
  %scale = "onnx.Mul"(%s, %s1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: "onnx.MatMulInteger"{{.*}}#htp.tag<"second", evidence = "alignment"
  %2 = "onnx.MatMulInteger"(%q, %w1, %z, %z1) : (tensor<1x2xui8>, tensor<2x2xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x2xi32>
  // CHECK: "onnx.Cast"{{.*}}#htp.tag<"second", evidence = "alignment"
  %3 = "onnx.Cast"(%2) {to = f32} : (tensor<1x2xi32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Mul"{{.*}}#htp.tag<"second", evidence = "alignment"
  %4 = "onnx.Mul"(%3, %scale) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  // CHECK: "onnx.Relu"{{.*}}#htp.tag<"act", call = 1, evidence = "alignment"
  %5 = "onnx.Relu"(%4) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %6 = "onnx.Add"(%5, %1) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %6 : tensor<1x2xf32>
}
