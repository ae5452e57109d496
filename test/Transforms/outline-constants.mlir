// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file --htp-outline | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file --htp-outline --htp-inline | FileCheck %s --check-prefix=BACK
// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file --htp-outline=max-constant-bytes=8 | FileCheck %s --check-prefix=SMALL

// A shape that all calls pass alike moves inside, also where each call has its
// own; a bound that differs, and a parameter, stay operands.

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
  htp.module @layer.1 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<4xf32>>]
}
// CHECK-LABEL: func.func @shapes
// BACK-LABEL: func.func @shapes
// SMALL-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w0 = "d.constant"() {value = dense<1.0> : tensor<4xf32>, htp.parameter = "layer.0.w"} : () -> tensor<4xf32>
  %w1 = "d.constant"() {value = dense<2.0> : tensor<4xf32>, htp.parameter = "layer.1.w"} : () -> tensor<4xf32>
  // CHECK: "d.constant"() {htp.constant = 0 : i64, value = dense<2> : tensor<2xi64>}
  // CHECK: "d.constant"() {htp.constant = 1 : i64, value = dense<2> : tensor<2xi64>}
  // CHECK: %[[LOW:.*]] = "d.constant"() {value = dense<0>
  // CHECK: %[[HIGH:.*]] = "d.constant"() {value = dense<1>
  // BACK: %[[SHAPE:.*]] = "d.constant"() {value = dense<2> : tensor<2xi64>}
  // BACK: %[[AGAIN:.*]] = "d.constant"() {value = dense<2> : tensor<2xi64>}
  %shape = "d.constant"() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %again = "d.constant"() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %low = "d.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %high = "d.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  // CHECK: call @Layer(%{{.*}}, %{{.*}}, %[[LOW]]) {htp.constants = array<i64: 0>
  // CHECK: call @Layer(%{{.*}}, %{{.*}}, %[[HIGH]]) {htp.constants = array<i64: 1>
  // Too large by the option: operands, as many as were passed.
  // SMALL: call @Layer(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) {htp.order
  // BACK: "d.reshape"(%{{.*}}, %[[SHAPE]], %{{.*}})
  // BACK: "d.reshape"(%{{.*}}, %[[AGAIN]], %{{.*}})
  %0 = "d.mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.reshape"(%0, %shape, %low) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<4xf32>
  %2 = "d.mul"(%1, %w1) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.reshape"(%2, %again, %high) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<4xf32>
  %4 = "d.use"(%3, %shape, %again, %low, %high) {htp.tag = #htp.tag<"">} : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
// CHECK: func.func private @Layer(%{{[^,]*}}: tensor<4xf32>, %{{[^,]*}}: tensor<4xf32>, %{{[^,]*}}: tensor<i64>)
// CHECK-NEXT: %[[C:.*]] = "d.constant"() {htp.sunk = 0 : i64, htp.tag = #htp.tag<"">, value = dense<2> : tensor<2xi64>}
// CHECK: "d.reshape"(%{{.*}}, %[[C]], %{{.*}})
// BACK-NOT: htp.sunk
// BACK-NOT: htp.constant

// -----

// What only the modules within read goes all the way down. A table that layers
// read again and again goes too; what is read once may be a weight of which
// nobody knows the name, and stays an operand.

htp.hierarchy @Net : "demo.Net" {
  htp.module @body : "demo.Body"
  htp.module @body.layer.0 : "demo.Layer"
  htp.module @body.layer.1 : "demo.Layer"
}
// CHECK-LABEL: func.func @nested
// BACK-LABEL: func.func @nested
func.func @nested(%x: tensor<9xf32>) -> tensor<9xf32> {
  // BACK: %[[TABLE:.*]] = "d.constant"() {value = dense<3.0
  %table = "d.constant"() {value = dense<3.0> : tensor<9xf32>} : () -> tensor<9xf32>
  %weight = "d.constant"() {value = dense<[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0]> : tensor<9xf32>} : () -> tensor<9xf32>
  // CHECK: %[[WEIGHT:.*]] = "d.constant"() {value = dense<[4.0
  // CHECK: call @Body(%{{[^,]*}}, %[[WEIGHT]]) {htp.constants = array<i64: 0>
  // BACK: "d.add"(%{{.*}}, %[[TABLE]])
  // BACK: "d.add"(%{{.*}}, %[[TABLE]])
  %0 = "d.mul"(%x, %weight) {htp.tag = #htp.tag<"body">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = "d.add"(%0, %table) {htp.tag = #htp.tag<"body.layer.0">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"body.layer.0">} : (tensor<9xf32>) -> tensor<9xf32>
  %3 = "d.add"(%2, %table) {htp.tag = #htp.tag<"body.layer.1">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %4 = "d.relu"(%3) {htp.tag = #htp.tag<"body.layer.1">} : (tensor<9xf32>) -> tensor<9xf32>
  %5 = "d.use"(%4, %table, %weight) {htp.tag = #htp.tag<"">} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %5 : tensor<9xf32>
}
// CHECK: func.func private @Layer(%{{[^,]*}}: tensor<9xf32>) -> tensor<9xf32>
// CHECK-NEXT: "d.constant"() {htp.sunk = 0 : i64{{.*}}dense<3.0
// CHECK: func.func private @Body(%{{[^,]*}}: tensor<9xf32>, %{{[^,]*}}: tensor<9xf32>)
// CHECK-NOT: "d.constant"
// CHECK: call @Layer({{.*}}htp.constants = array<i64: 0>
// CHECK: call @Layer({{.*}}htp.constants = array<i64: 0>

// -----

// One number many times is what an exporter wrote, not what a module learned.

htp.hierarchy @Net : "demo.Net" {
  htp.module @body : "demo.Body"
}
// CHECK-LABEL: func.func @uniform
// BACK-LABEL: func.func @uniform
func.func @uniform(%x: tensor<9xf32>) -> tensor<9xf32> {
  // BACK: %[[ONES:.*]] = "d.constant"() {value = dense_resource<ones>
  // BACK: "d.mul"(%{{.*}}, %[[ONES]])
  %ones = "d.constant"() {value = dense_resource<ones> : tensor<9xf32>} : () -> tensor<9xf32>
  // CHECK: call @Body(%{{[^,]*}}) {htp.constants = array<i64: 0>
  %0 = "d.mul"(%x, %ones) {htp.tag = #htp.tag<"body">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = "d.relu"(%0) {htp.tag = #htp.tag<"body">} : (tensor<9xf32>) -> tensor<9xf32>
  %2 = "d.use"(%1, %ones) {htp.tag = #htp.tag<"">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %2 : tensor<9xf32>
}
// CHECK: func.func private @Body(%{{[^,]*}}: tensor<9xf32>) -> tensor<9xf32>
// CHECK-NEXT: "d.constant"() {htp.sunk

{-#
  dialect_resources: {
    builtin: {
      ones: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
    }
  }
#-}
