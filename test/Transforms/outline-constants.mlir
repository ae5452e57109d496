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

// What only the modules within read goes all the way down. So does a tensor
// that is read once: where the parameters are known, it is none of them.

htp.hierarchy @Net : "demo.Net" {
  htp.module @body : "demo.Body" parameters [#htp.parameter<"w" : tensor<9xf32>>]
  htp.module @body.layer.0 : "demo.Layer"
  htp.module @body.layer.1 : "demo.Layer"
}
// CHECK-LABEL: func.func @nested
// BACK-LABEL: func.func @nested
func.func @nested(%x: tensor<9xf32>) -> tensor<9xf32> {
  %w = "d.constant"() {value = dense<1.0> : tensor<9xf32>, htp.parameter = "body.w"} : () -> tensor<9xf32>
  // BACK: %[[TABLE:.*]] = "d.constant"() {value = dense<3.0
  // BACK: %[[FOLDED:.*]] = "d.constant"() {value = dense<[4.0
  %table = "d.constant"() {value = dense<3.0> : tensor<9xf32>} : () -> tensor<9xf32>
  %folded = "d.constant"() {value = dense<[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0]> : tensor<9xf32>} : () -> tensor<9xf32>
  // CHECK: %[[W:.*]] = "d.constant"() {htp.parameter
  // CHECK: call @Body(%{{[^,]*}}, %[[W]]) {htp.constants = array<i64: {{[01], [01]}}>
  // BACK: "d.fma"(%{{[^,]*}}, %{{[^,]*}}, %[[FOLDED]])
  // BACK: "d.add"(%{{.*}}, %[[TABLE]])
  // BACK: "d.add"(%{{.*}}, %[[TABLE]])
  %0 = "d.fma"(%x, %w, %folded) {htp.tag = #htp.tag<"body">} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = "d.add"(%0, %table) {htp.tag = #htp.tag<"body.layer.0">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"body.layer.0">} : (tensor<9xf32>) -> tensor<9xf32>
  %3 = "d.add"(%2, %table) {htp.tag = #htp.tag<"body.layer.1">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %4 = "d.relu"(%3) {htp.tag = #htp.tag<"body.layer.1">} : (tensor<9xf32>) -> tensor<9xf32>
  %5 = "d.use"(%4, %table, %folded) {htp.tag = #htp.tag<"">} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %5 : tensor<9xf32>
}
// CHECK: func.func private @Layer(%{{[^,]*}}: tensor<9xf32>) -> tensor<9xf32>
// CHECK-NEXT: "d.constant"() {htp.sunk = 0 : i64{{.*}}dense<3.0
// CHECK: func.func private @Body(%{{[^,]*}}: tensor<9xf32>, %{{[^,]*}}: tensor<9xf32>)
// CHECK-NEXT: %[[INSIDE:.*]] = "d.constant"() {htp.sunk{{.*}}dense<[4.0
// CHECK-NOT: "d.constant"
// CHECK: "d.fma"(%{{[^,]*}}, %{{[^,]*}}, %[[INSIDE]])
// CHECK: call @Layer({{.*}}htp.constants = array<i64:
// CHECK: call @Layer({{.*}}htp.constants = array<i64:

// -----

// Where the file names no parameter, a tensor that is read once may be one, and
// stays an operand. What many calls read alike is a table.

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
  htp.module @head : "demo.Head"
}
// CHECK-LABEL: func.func @nameless
// BACK-LABEL: func.func @nameless
func.func @nameless(%x: tensor<9xf32>) -> tensor<9xf32> {
  // BACK: %[[TABLE:.*]] = "d.constant"() {value = dense_resource<ones>
  // BACK: "d.mul"(%{{.*}}, %[[TABLE]])
  // BACK: "d.mul"(%{{.*}}, %[[TABLE]])
  %table = "d.constant"() {value = dense_resource<ones> : tensor<9xf32>} : () -> tensor<9xf32>
  %weight = "d.constant"() {value = dense<[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0]> : tensor<9xf32>} : () -> tensor<9xf32>
  // CHECK: %[[WEIGHT:.*]] = "d.constant"() {value = dense<[4.0
  // CHECK: call @Layer(%{{[^,]*}}) {htp.constants = array<i64: 0>
  // CHECK: call @Layer(%{{[^,]*}}) {htp.constants = array<i64: 0>
  // CHECK: call @Head(%{{[^,]*}}, %[[WEIGHT]]) {htp.order
  %0 = "d.mul"(%x, %table) {htp.tag = #htp.tag<"layer.0">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = "d.relu"(%0) {htp.tag = #htp.tag<"layer.0">} : (tensor<9xf32>) -> tensor<9xf32>
  %2 = "d.mul"(%1, %table) {htp.tag = #htp.tag<"layer.1">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %3 = "d.relu"(%2) {htp.tag = #htp.tag<"layer.1">} : (tensor<9xf32>) -> tensor<9xf32>
  %4 = "d.mul"(%3, %weight) {htp.tag = #htp.tag<"head">} : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %5 = "d.relu"(%4) {htp.tag = #htp.tag<"head">} : (tensor<9xf32>) -> tensor<9xf32>
  %6 = "d.use"(%5, %weight, %table) {htp.tag = #htp.tag<"">} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %6 : tensor<9xf32>
}
// CHECK-DAG: func.func private @Layer(%{{[^,]*}}: tensor<9xf32>) -> tensor<9xf32>
// CHECK-DAG: func.func private @Head(%{{[^,]*}}: tensor<9xf32>, %{{[^,]*}}: tensor<9xf32>) -> tensor<9xf32>

{-#
  dialect_resources: {
    builtin: {
      ones: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
    }
  }
#-}
