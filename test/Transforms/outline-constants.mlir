// RUN: htp-opt %s -split-input-file --htp-outline | FileCheck %s
// RUN: htp-opt %s -split-input-file --htp-outline --htp-inline | FileCheck %s --check-prefix=BACK
// RUN: htp-opt %s -split-input-file --htp-outline=max-constant-bytes=8 | FileCheck %s --check-prefix=SMALL

// A shape that all calls pass alike moves inside, and so does a table that two
// layers read. A bound that differs stays an operand.

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
  htp.module @layer.1 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
}
// CHECK-LABEL: func.func @main
// BACK-LABEL: func.func @main
// SMALL-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-DAG: %[[W0:.*]] = "d.constant"() <{{.*}} {htp.parameter = "layer.0.w"}
  // CHECK-DAG: %[[W1:.*]] = "d.constant"() <{{.*}} {htp.parameter = "layer.1.w"}
  %w0 = "d.constant"() {value = dense<1.0> : tensor<4xf32>, htp.parameter = "layer.0.w"} : () -> tensor<4xf32>
  %w1 = "d.constant"() {value = dense<2.0> : tensor<4xf32>, htp.parameter = "layer.1.w"} : () -> tensor<4xf32>
  %shape = "d.constant"() {value = dense<[2, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %again = "d.constant"() {value = dense<[2, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %low = "d.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %high = "d.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "d.mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.reshape"(%0, %shape, %low) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<4xf32>
  %2 = "d.mul"(%1, %w1) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.reshape"(%2, %again, %high) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<4xf32>
  %4 = "d.use"(%3, %shape, %again, %low, %high) {htp.tag = #htp.tag<"">} : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
