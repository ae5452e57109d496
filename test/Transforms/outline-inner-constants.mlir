// A constant that several inner modules read stays in the body around them: each call of that body gives one back.
// RUN: htp-opt %s --htp-outline=min-ops=1 | FileCheck %s
// RUN: htp-opt %s --htp-outline=min-ops=1 --htp-inline | FileCheck %s --check-prefix=BACK
// RUN: htp-opt %s --htp-outline=min-ops=1 -o %t.onnx && htp-opt %t.onnx --htp-inline | FileCheck %s --check-prefix=BACK

htp.hierarchy @Net : "demo.Net" {
  htp.module @outer : "demo.Outer" calls 2
  htp.module @outer.a : "demo.Inner" calls 2
  htp.module @outer.b : "demo.Other" calls 2
}

// CHECK-LABEL: func.func @main_graph
// CHECK-NOT: onnx.Constant
// CHECK: call @Outer
// CHECK: call @Outer
// CHECK: func.func private @Inner
// CHECK: onnx.Constant{{.*}}htp.sunk = 0
// CHECK: func.func private @Other
// CHECK: onnx.Constant{{.*}}htp.sunk = 0
// CHECK: func.func private @Outer
// CHECK: onnx.Constant{{.*}}htp.constant = 0
// CHECK: call @Inner({{.*}}htp.constants = array<i64: -2>
// CHECK: call @Other({{.*}}htp.constants = array<i64: -2>

// BACK-LABEL: func.func @main_graph
// BACK: %[[C0:[a-z0-9]+]] = "onnx.Constant"{{.*}}["c0"]
// BACK-NEXT: %[[A0:[a-z0-9]+]] = "onnx.Mul"(%{{.*}}, %[[C0]])
// BACK-NEXT: %[[B0:[a-z0-9]+]] = "onnx.Add"(%[[A0]], %[[C0]])
// BACK-NEXT: %[[C1:[a-z0-9]+]] = "onnx.Constant"{{.*}}["c1"]
// BACK-NEXT: %[[A1:[a-z0-9]+]] = "onnx.Mul"(%[[B0]], %[[C1]])
// BACK-NEXT: %[[B1:[a-z0-9]+]] = "onnx.Add"(%[[A1]], %[[C1]])
// BACK-NEXT: onnx.Return %[[B1]]
// BACK-NOT: func.func
func.func @main_graph(%x: tensor<2xi64> {onnx.name = "x"}) -> (tensor<2xi64> {onnx.name = "b1"}) {
  %c0 = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>, onnx_output_names = ["c0"], htp.tag = #htp.tag<"outer.a">} : () -> tensor<2xi64>
  %a0 = "onnx.Mul"(%x, %c0) {onnx_output_names = ["a0"], htp.tag = #htp.tag<"outer.a">} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %b0 = "onnx.Add"(%a0, %c0) {onnx_output_names = ["b0"], htp.tag = #htp.tag<"outer.b">} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %c1 = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>, onnx_output_names = ["c1"], htp.tag = #htp.tag<"outer.a", call = 1>} : () -> tensor<2xi64>
  %a1 = "onnx.Mul"(%b0, %c1) {onnx_output_names = ["a1"], htp.tag = #htp.tag<"outer.a", call = 1>} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %b1 = "onnx.Add"(%a1, %c1) {onnx_output_names = ["b1"], htp.tag = #htp.tag<"outer.b", call = 1>} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  onnx.Return %b1 : tensor<2xi64>
}
