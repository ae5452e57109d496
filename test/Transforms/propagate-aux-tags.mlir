// RUN: htp-opt %s --htp-propagate-aux-tags --split-input-file | FileCheck %s

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "torch.nn.modules.container.ModuleList" torch_nn
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}

// CHECK-LABEL: @votes
func.func @votes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // One module reads it.
  // CHECK: "onnx.Constant"() {{.*}}#htp.tag<"layer.0", evidence = "consumer"
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  // Two layers read it and neither made it: what they share, never one of them.
  // CHECK: "onnx.Constant"() {{.*}}#htp.tag<"layer", evidence = "ancestor"{{.*}}#htp.context<"layer.1"{{.*}}#htp.context<"layer.0"
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "onnx.Add"(%x, %one) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // Between two nodes of one module.
  // CHECK: "onnx.Cast"{{.*}}#htp.tag<"layer.0", evidence = "producer"
  %1 = "onnx.Cast"(%0) {to = f32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Mul"(%1, %two) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "onnx.Mul"(%2, %two) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // Nothing but the caller reads it.
  // CHECK: "onnx.Identity"{{.*}}#htp.tag<"layer.1", evidence = "producer"
  %4 = "onnx.Identity"(%3) : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// What a quantizer puts behind the last node goes with that node.
// CHECK-LABEL: @result
func.func @result(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xf32> {
  %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "onnx.QuantizeLinear"{{.*}}#htp.tag<"layer.1"
  %1 = "onnx.QuantizeLinear"(%0, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  // CHECK: "onnx.DequantizeLinear"{{.*}}#htp.tag<"layer.1", evidence = "producer"
  %2 = "onnx.DequantizeLinear"(%1, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A whole chain goes where its end goes.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "onnx.Shape"{{.*}}#htp.tag<"layer.1", evidence = "consumer"
  %0 = "onnx.Shape"(%x) : (tensor<4xf32>) -> tensor<1xi64>
  // CHECK: "onnx.Cast"{{.*}}#htp.tag<"layer.1", evidence = "consumer"
  %1 = "onnx.Cast"(%0) {to = i64} : (tensor<1xi64>) -> tensor<1xi64>
  %2 = "onnx.Expand"(%y, %1) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Bodies, and functions that several modules call.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
}

// CHECK-LABEL: @bodies
func.func @bodies(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    // CHECK: math.exp {{.*}}#htp.tag<"a", evidence = "consumer"
    %3 = math.exp %x : tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  } {htp.tag = #htp.tag<"a">}
  %1 = func.call @shared(%0) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @shared(%1) {htp.tag = #htp.tag<"b">} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @shared
func.func private @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.exp {{.*}}#htp.tag<"", evidence = "ancestor"
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
