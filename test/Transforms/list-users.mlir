// RUN: htp-opt %s --htp-list-users | FileCheck %s

htp.hierarchy @Net : "demo.Net" {
  htp.module @norm : "demo.Norm"
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}

// CHECK-LABEL: @shared
func.func @shared(%x: tensor<4xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  // Made for every layer.
  // CHECK: "onnx.Exp"{{.*}}#htp.tag<"", evidence = "name", confidence = 0.99, contexts = [#htp.context<"layer.0", evidence = "consumer", confidence = {{.*}}>, #htp.context<"layer.1", evidence = "consumer", confidence = {{.*}}>]>
  %mask = "onnx.Exp"(%m) {htp.tag = #htp.tag<"", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  // The result of a module that two others read is theirs to read: nothing to list.
  // CHECK: "onnx.Neg"{{.*}}{htp.tag = #htp.tag<"norm">}
  %n = "onnx.Neg"(%x) {htp.tag = #htp.tag<"norm">} : (tensor<4xf32>) -> tensor<4xf32>
  // One layer alone.
  // CHECK: "onnx.Abs"{{.*}}{htp.tag = #htp.tag<"">}
  %one = "onnx.Abs"(%m) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "onnx.Mul"(%n, %mask) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Add"(%0, %one) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Add"(%1, %n) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "onnx.Mul"(%2, %mask) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// What is listed already stays as it is.
// CHECK-LABEL: @again
func.func @again(%m: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.2>, #htp.context<"layer.0", evidence = "consumer"
  %0 = "onnx.Exp"(%m) {htp.tag = #htp.tag<"", confidence = 0.8, contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.2>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Add"(%0, %0) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Add"(%1, %0) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
