// RUN: htp-opt %s --htp-outline=classes=Layer | FileCheck %s

// Every fourth layer is another one: as many functions as there are structures, and the weights of each are operands.

// CHECK: call @Layer({{.*}}#htp.tag<"layers.0">
// CHECK: call @Layer({{.*}}#htp.tag<"layers.1">
// CHECK: call @Layer({{.*}}#htp.tag<"layers.2">
// CHECK: call @Layer_1({{.*}}#htp.tag<"layers.3">
// CHECK: call @Layer({{.*}}#htp.tag<"layers.4">
// CHECK: call @Layer({{.*}}#htp.tag<"layers.5">
// CHECK: call @Layer({{.*}}#htp.tag<"layers.6">
// CHECK: call @Layer_1({{.*}}#htp.tag<"layers.7">
// CHECK: func.func private @Layer(
// CHECK: "onnx.Relu"
// CHECK: func.func private @Layer_1(
// CHECK: "onnx.Sigmoid"
// CHECK-NOT: func.func
htp.hierarchy @Net : "demo.Net" {
  htp.module @layers.0 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.1 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.2 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.3 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.4 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.5 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.6 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
  htp.module @layers.7 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2xf32>>]
}
func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
  %w0 = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.0.w", onnx_output_names = ["w0"]} : () -> tensor<2xf32>
  %m0 = "onnx.Mul"(%x, %w0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["m0"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a0 = "onnx.Relu"(%m0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["a0"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w1 = "onnx.Constant"() {value = dense<2.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.1.w", onnx_output_names = ["w1"]} : () -> tensor<2xf32>
  %m1 = "onnx.Mul"(%a0, %w1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["m1"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a1 = "onnx.Relu"(%m1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["a1"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w2 = "onnx.Constant"() {value = dense<3.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.2.w", onnx_output_names = ["w2"]} : () -> tensor<2xf32>
  %m2 = "onnx.Mul"(%a1, %w2) {htp.tag = #htp.tag<"layers.2">, onnx_output_names = ["m2"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a2 = "onnx.Relu"(%m2) {htp.tag = #htp.tag<"layers.2">, onnx_output_names = ["a2"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w3 = "onnx.Constant"() {value = dense<4.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.3.w", onnx_output_names = ["w3"]} : () -> tensor<2xf32>
  %m3 = "onnx.Mul"(%a2, %w3) {htp.tag = #htp.tag<"layers.3">, onnx_output_names = ["m3"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a3 = "onnx.Sigmoid"(%m3) {htp.tag = #htp.tag<"layers.3">, onnx_output_names = ["a3"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w4 = "onnx.Constant"() {value = dense<5.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.4.w", onnx_output_names = ["w4"]} : () -> tensor<2xf32>
  %m4 = "onnx.Mul"(%a3, %w4) {htp.tag = #htp.tag<"layers.4">, onnx_output_names = ["m4"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a4 = "onnx.Relu"(%m4) {htp.tag = #htp.tag<"layers.4">, onnx_output_names = ["a4"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w5 = "onnx.Constant"() {value = dense<6.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.5.w", onnx_output_names = ["w5"]} : () -> tensor<2xf32>
  %m5 = "onnx.Mul"(%a4, %w5) {htp.tag = #htp.tag<"layers.5">, onnx_output_names = ["m5"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a5 = "onnx.Relu"(%m5) {htp.tag = #htp.tag<"layers.5">, onnx_output_names = ["a5"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w6 = "onnx.Constant"() {value = dense<7.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.6.w", onnx_output_names = ["w6"]} : () -> tensor<2xf32>
  %m6 = "onnx.Mul"(%a5, %w6) {htp.tag = #htp.tag<"layers.6">, onnx_output_names = ["m6"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a6 = "onnx.Relu"(%m6) {htp.tag = #htp.tag<"layers.6">, onnx_output_names = ["a6"]} : (tensor<2xf32>) -> tensor<2xf32>
  %w7 = "onnx.Constant"() {value = dense<8.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.7.w", onnx_output_names = ["w7"]} : () -> tensor<2xf32>
  %m7 = "onnx.Mul"(%a6, %w7) {htp.tag = #htp.tag<"layers.7">, onnx_output_names = ["m7"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a7 = "onnx.Sigmoid"(%m7) {htp.tag = #htp.tag<"layers.7">, onnx_output_names = ["a7"]} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %a7 : tensor<2xf32>
}
