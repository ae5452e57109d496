// RUN: htp-opt %S/outline.mlir --htp-outline=summary=true -split-input-file -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: remark: outlined 2 calls of modules: 1 functions, 2 calls, 4 ops saved by sharing, 0 modules split
// RUN: htp-opt %s --htp-outline -split-input-file -verify-diagnostics -allow-unregistered-dialect
// RUN: not htp-opt %s --htp-outline=modules=layr.0 -split-input-file -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: not htp-opt %s --htp-outline=modules=**.attention.* -split-input-file -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not htp-opt %s --htp-outline=classes=Layr -split-input-file -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=CLASS

// PATH: there is no module 'layr.0' in the module tree; did you mean 'layer.0'?
// GLOB: no module's path matches '**.attention.*'
// CLASS: no module is of class 'Layr'; did you mean 'Layer'?

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
}
// expected-error@+1 {{no op has a tag or a location with a scope: run --htp-tag first}}
func.func @untagged(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
}
func.func @between(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{the first op with a tag is here}}
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{has no tag, while others have one: run --htp-tag, which leaves no op without}}
  %1 = "d.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
}
// expected-error@+1 {{module 'layer.0' becomes a function '@Layer', but that name is taken}}
func.func @taken(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.relu"(%0) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// expected-note@+1 {{by this func.func}}
func.func private @Layer()

// -----

// expected-error@+1 {{has no module tree (htp.hierarchy): run --htp-tag or --htp-attach-hierarchy first}}
module {
  func.func @no_tree(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "d.relu"(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Not convex: a remark says which way the dataflow goes.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
}
func.func @split(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"a">, onnx_node_name = "first"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.relu"(%0) {htp.tag = #htp.tag<"a">, onnx_node_name = "out"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@+1 {{outside of the module here}}
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"b">, onnx_node_name = "through"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{module 'a' becomes 2 parts, because its dataflow leaves it after 'out', goes through 'through' of module 'b', and comes back at 'back'}}
  %3 = "d.relu"(%2) {htp.tag = #htp.tag<"a">, onnx_node_name = "back"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "d.relu"(%3) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  return %4, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @Layer(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error@+1 {{is an outlined module already: run --htp-inline first}}
func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer.0"} {
  return %x : tensor<4xf32>
}

// -----

// A model's own functions: one calls itself from the body of an If.

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Custom"(%x) {function_name = "f", domain_name = "local", htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note@+1 {{'@local.f' is here}}
func.func private @local.f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.function_domain = "local", onnx.function_name = "f"} {
  %0 = "onnx.Custom"(%x) {function_name = "g", domain_name = "local"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note@+1 {{'@local.g' is here}}
func.func private @local.g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.function_domain = "local", onnx.function_name = "g"} {
  %0 = "d.if"(%x) ({
    // expected-error@+1 {{function '@local.f' calls itself through '@local.g', which neither a module nor an ONNX function may}}
    %1 = "onnx.Custom"(%x) {function_name = "f", domain_name = "local"} : (tensor<4xf32>) -> tensor<4xf32>
    "d.yield"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
