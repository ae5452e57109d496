// RUN: htp-opt %s --htp-outline -split-input-file -allow-unregistered-dialect | FileCheck %s

// Equal layers share a function; weights are operands, constants live inside,
// tags are relative in the body and absolute on the calls.

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "torch.nn.modules.container.ModuleList" torch_nn calls 0
  htp.module @layer.0 : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
  htp.module @layer.0.act : "torch.nn.modules.activation.ReLU" torch_nn
  htp.module @layer.1 : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
  htp.module @layer.1.act : "torch.nn.modules.activation.ReLU" torch_nn
}

// CHECK-LABEL: func @main
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  // CHECK-DAG: %[[B0:.*]] = "onnx.Constant"{{.*}}"layer.0.bias"
  // CHECK-DAG: %[[W0:.*]] = "onnx.Constant"{{.*}}"layer.0.weight"
  %b0 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.0.bias", value = dense<1.0> : tensor<4xf32>, onnx_output_names = ["layer.0.bias"]} : () -> tensor<4xf32>
  %w0 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.0.weight", value = dense<2.0> : tensor<4xf32>, onnx_output_names = ["layer.0.weight"]} : () -> tensor<4xf32>
  %b1 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.1.bias", value = dense<3.0> : tensor<4xf32>, onnx_output_names = ["layer.1.bias"]} : () -> tensor<4xf32>
  %w1 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.1.weight", value = dense<4.0> : tensor<4xf32>, onnx_output_names = ["layer.1.weight"]} : () -> tensor<4xf32>
  %one0 = "onnx.Constant"() {value = dense<1.0> : tensor<f32>, onnx_output_names = ["one0"]} : () -> tensor<f32>
  %one1 = "onnx.Constant"() {value = dense<1.0> : tensor<f32>, onnx_output_names = ["one1"]} : () -> tensor<f32>
  %0 = "onnx.Add"(%x, %b0) {htp.tag = #htp.tag<"layer.0">, onnx_node_name = "add0", onnx_output_names = ["v0"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Mul"(%0, %w0) {htp.tag = #htp.tag<"layer.0">, onnx_node_name = "mul0", onnx_output_names = ["v1"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Max"(%1, %one0) {htp.tag = #htp.tag<"layer.0.act">, onnx_node_name = "max0", onnx_output_names = ["v2"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = "onnx.Add"(%2, %b1) {htp.tag = #htp.tag<"layer.1">, onnx_node_name = "add1", onnx_output_names = ["v3"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "onnx.Mul"(%3, %w1) {htp.tag = #htp.tag<"layer.1">, onnx_node_name = "mul1", onnx_output_names = ["v4"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "onnx.Max"(%4, %one1) {htp.tag = #htp.tag<"layer.1.act">, onnx_node_name = "max1", onnx_output_names = ["v5"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[C0:.*]] = call @Layer(%[[X]], %[[W0]], %[[B0]]) {htp.order = array<i64: 4, 1, 6, 3>, htp.tag = #htp.tag<"layer.0">, onnx_node_name = "layer.0", onnx_output_names = ["v2"]}
  // CHECK: %[[C1:.*]] = call @Layer(%[[C0]], {{.*}}) {htp.order = array<i64: 5, 1, 9, 3>, htp.originals = #[[O:originals.*]], htp.tag = #htp.tag<"layer.1">
  // CHECK-NEXT: return %[[C1]]
  return %5 : tensor<4xf32>
}
// CHECK: func private @Layer
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32> {onnx.name = "x"}, %[[W:.*]]: tensor<4xf32> {onnx.name = "layer.0.weight"}, %[[B:.*]]: tensor<4xf32> {onnx.name = "layer.0.bias"})
// CHECK-SAME: -> (tensor<4xf32> {onnx.name = "v2"}) attributes {htp.module = "layer.0", onnx.function_domain = "htp.Net", {{.*}}}
// CHECK-NEXT: "onnx.Constant"
// CHECK-NEXT: %[[ADD:.*]] = "onnx.Add"(%[[A]], %[[B]]) {htp.tag = #htp.tag<"">
// CHECK-NEXT: "onnx.Mul"(%[[ADD]], %[[W]])
// CHECK-NEXT: %[[MAX:.*]] = "onnx.Max"{{.*}} {htp.tag = #htp.tag<"act">
// CHECK-NEXT: return %[[MAX]]
// CHECK-NOT: func private

// -----

// A layer that differs in one attribute has a function of its own.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer"
  htp.module @b : "demo.Layer"
}
// CHECK-LABEL: func @variants
func.func @variants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @Layer(
  // CHECK: call @Layer_1(
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.elu"(%0) {alpha = 1.0, htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"b">} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.elu"(%2) {alpha = 2.0, htp.tag = #htp.tag<"b">} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
// CHECK: func private @Layer(
// CHECK: func private @Layer_1(

// -----

// Two calls of one module, from locations alone; interleaved ops are reordered.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer" calls 2
  htp.module @a.inner : "demo.Inner" calls 4
}
// CHECK-LABEL: func @calls
func.func @calls(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = call @Layer(%arg0) {htp.order = array<i64: 0, 1, 2, 1>, htp.tag = #htp.tag<"a">}
  // CHECK: %[[S:.*]] = call @Layer(%arg1) {htp.order = array<i64: 1, 1, 3, 1>, htp.originals = {{.*}}, htp.tag = #htp.tag<"a", call = 1>}
  // CHECK: return %[[R]], %[[S]]
  %0 = "d.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "a"}>["r0"])
  %1 = "d.relu"(%y) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "a", htp.call = 1 : i64}>["r1"])
  %2 = "d.elu"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "a.inner", htp.call = 1 : i64}>["e0"])
  %3 = "d.elu"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "a.inner", htp.call = 3 : i64}>["e1"])
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The body of an scf.for goes with the op, and what it captures becomes an
// operand. An op between two ops of a module is pulled inside.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Loop"
}
// CHECK-LABEL: func @pulled
func.func @pulled(%x: tensor<4xf32>, %m: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = call @Loop(%arg0, %arg2, %arg1)
  // CHECK-NEXT: return %[[R]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.between"(%0) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %1) -> tensor<4xf32> {
    %3 = "d.add"(%acc, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } {htp.tag = #htp.tag<"a">}
  return %2 : tensor<4xf32>
}
// CHECK: func private @Loop(
// CHECK: "d.between"({{.*}}) {htp.tag = #htp.tag<"/">}
// CHECK: scf.for

// -----

// Nested modules; torch.nn's are left alone.

htp.hierarchy @Net : "demo.Net" {
  htp.module @outer : "demo.Outer"
  htp.module @outer.inner : "demo.Inner"
  htp.module @outer.inner.act : "torch.nn.modules.activation.ReLU" torch_nn
}
// CHECK-LABEL: func @nested
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = call @Outer(%arg0) {htp.order = array<i64: 2, 1>
  // CHECK-NEXT: return %[[R]]
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"outer.inner.act">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.elu"(%0) {htp.tag = #htp.tag<"outer.inner">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.elu"(%1) {htp.tag = #htp.tag<"outer">} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK: func private @Inner({{.*}} attributes {htp.module = "outer.inner"}
// CHECK-NEXT: "d.relu"(%{{.*}}) {htp.tag = #htp.tag<"act">}
// CHECK: func private @Outer({{.*}} attributes {htp.module = "outer"}
// CHECK-NEXT: call @Inner(%{{.*}}) {htp.order = array<i64: 0, 2>, htp.tag = #htp.tag<"inner">}

// -----

// Equal parameters that the exporter stores once: a copy stays outside and is a
// parameter of the module whose name it has. Where the layers read one weight
// without a copy, the operands still come in the order of the function, and one
// weight may stand for two.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
  htp.module @b : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
  htp.module @c : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
  htp.module @d : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<4xf32>>, #htp.parameter<"bias" : tensor<4xf32>>]
}
// CHECK-LABEL: func @copies
func.func @copies(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  // CHECK: %[[AB:.*]] = "onnx.Constant"{{.*}}"a.bias"
  // CHECK: %[[AW:.*]] = "onnx.Constant"{{.*}}"a.weight"
  // CHECK: %[[BW:.*]] = "onnx.Constant"{{.*}}"b.weight"
  // CHECK: %[[BB:.*]] = "onnx.Identity"(%[[AB]])
  %ab = "onnx.Constant"() {onnx.initializer, htp.parameter = "a.bias", value = dense<0.0> : tensor<4xf32>, onnx_output_names = ["a.bias"]} : () -> tensor<4xf32>
  %aw = "onnx.Constant"() {onnx.initializer, htp.parameter = "a.weight", value = dense<1.0> : tensor<4xf32>, onnx_output_names = ["a.weight"]} : () -> tensor<4xf32>
  %bw = "onnx.Constant"() {onnx.initializer, htp.parameter = "b.weight", value = dense<2.0> : tensor<4xf32>, onnx_output_names = ["b.weight"]} : () -> tensor<4xf32>
  %bb = "onnx.Identity"(%ab) {htp.tag = #htp.tag<"b">, onnx_output_names = ["b.bias"]} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "onnx.Mul"(%x, %aw) {htp.tag = #htp.tag<"a">, onnx_output_names = ["v0"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Add"(%0, %ab) {htp.tag = #htp.tag<"a">, onnx_output_names = ["v1"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Mul"(%1, %bw) {htp.tag = #htp.tag<"b">, onnx_output_names = ["v2"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "onnx.Add"(%2, %bb) {htp.tag = #htp.tag<"b">, onnx_output_names = ["v3"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "onnx.Mul"(%3, %bw) {htp.tag = #htp.tag<"c">, onnx_output_names = ["v4"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "onnx.Add"(%4, %ab) {htp.tag = #htp.tag<"c">, onnx_output_names = ["v5"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = "onnx.Mul"(%5, %aw) {htp.tag = #htp.tag<"d">, onnx_output_names = ["v6"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = "onnx.Add"(%6, %aw) {htp.tag = #htp.tag<"d">, onnx_output_names = ["v7"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[A:.*]] = call @Layer(%arg0, %[[AW]], %[[AB]])
  // CHECK: %[[B:.*]] = call @Layer(%[[A]], %[[BW]], %[[BB]])
  // CHECK: %[[C:.*]] = call @Layer(%[[B]], %[[BW]], %[[AB]])
  // CHECK: call @Layer(%[[C]], %[[AW]], %[[AW]])
  return %7 : tensor<4xf32>
}
// CHECK: func private @Layer(
// CHECK-NOT: func private
