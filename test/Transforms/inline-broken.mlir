// What outlining recorded may no longer fit, because someone changed the functions or the file. Everything is
// inlined all the same, in an order that is valid, and what is left of the records goes.
// RUN: htp-opt %s -split-input-file --htp-inline -allow-unregistered-dialect | FileCheck %s --implicit-check-not=htp.order --implicit-check-not=htp.sunk --implicit-check-not=htp.constant --implicit-check-not=htp.originals --implicit-check-not=htp.positions

// Two ops cannot have one place, and none can be before what it reads: the order of the calls stays.
// CHECK-LABEL: func @order
// CHECK-NEXT: %[[A:.*]] = "d.first"(%{{.*}})
// CHECK-NEXT: %[[B:.*]] = "d.second"(%[[A]])
// CHECK-NEXT: %[[C:.*]] = "d.first"(%[[B]])
// CHECK-NEXT: %[[D:.*]] = "d.second"(%[[C]])
// CHECK-NEXT: return %[[D]]
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer"
  htp.module @b : "demo.Layer"
}
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.positions = array<i64: 0, 9>} {
  %0 = func.call @Layer(%x) {htp.order = array<i64: 1, 2>, htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @Layer(%0) {htp.order = array<i64: 1, 2>, htp.tag = #htp.tag<"b">} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "a"} {
  %0 = "d.first"(%x) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.second"(%0) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A copy of a constant whose original is gone takes its place. One whose original has another type since, too.
// CHECK-LABEL: func @constants
// CHECK: "d.Constant"() {onnx_node_name = "kept", value = 1 : i64} : () -> tensor<1xi64>
// CHECK-NOT: value = 2
// CHECK: "d.Constant"() {onnx_node_name = "changed", value = 3 : i64} : () -> tensor<2xi64>
// CHECK: %[[GONE:.*]] = "d.Constant"() {value = 4 : i64} : () -> tensor<1xi64>
// CHECK: %[[OLD:.*]] = "d.Constant"() {value = 3 : i64} : () -> tensor<1xi64>
// CHECK: "d.op"(%{{.*}}, %[[GONE]], %[[OLD]]) {htp.tag = #htp.tag<"a">}
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer"
}
func.func @constants() -> tensor<1xi64> {
  %kept = "d.Constant"() {htp.constant = 0 : i64, onnx_node_name = "kept", value = 1} : () -> tensor<1xi64>
  %changed = "d.Constant"() {htp.constant = 2 : i64, onnx_node_name = "changed", value = 3} : () -> tensor<2xi64>
  %0 = func.call @Layer() {htp.constants = array<i64: 0, 1, 2>, htp.tag = #htp.tag<"a">} : () -> tensor<1xi64>
  return %0 : tensor<1xi64>
}
func.func private @Layer() -> tensor<1xi64> attributes {htp.module = "a"} {
  %0 = "d.Constant"() {htp.sunk = 0 : i64, value = 1} : () -> tensor<1xi64>
  %1 = "d.Constant"() {htp.sunk = 1 : i64, value = 4} : () -> tensor<1xi64>
  %2 = "d.Constant"() {htp.sunk = 2 : i64, value = 3} : () -> tensor<1xi64>
  %3 = "d.op"(%0, %1, %2) {htp.tag = #htp.tag<"">} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %3 : tensor<1xi64>
}

// -----

// Of calls that share a function, one may have known more of a type. That is recorded, and given back.
// CHECK-LABEL: func @types
// CHECK: "d.relu"(%{{.*}}) {htp.tag = #htp.tag<"a">} : (tensor<?xf32>) -> tensor<4xf32>
// CHECK: "d.relu"(%{{.*}}) {htp.tag = #htp.tag<"b">} : (tensor<?xf32>) -> tensor<?xf32>
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer"
  htp.module @b : "demo.Layer"
}
func.func @types(%x: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = "func.call"(%x) {callee = @Layer, htp.originals = #htp.originals<[{types = [tensor<4xf32>]}]>, htp.tag = #htp.tag<"a">} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = func.call @Layer(%x) {htp.tag = #htp.tag<"b">} : (tensor<?xf32>) -> tensor<?xf32>
  %2 = "d.cast"(%0) : (tensor<?xf32>) -> tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<?xf32>
}
func.func private @Layer(%x: tensor<?xf32>) -> tensor<?xf32> attributes {htp.module = "a"} {
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"">} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
