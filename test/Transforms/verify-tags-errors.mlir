// RUN: htp-opt %s -allow-unregistered-dialect --htp-verify-tags -split-input-file -verify-diagnostics

// expected-error @+1 {{has no module tree (htp.hierarchy): run --htp-tag or --htp-attach-hierarchy first}}
module {
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @+2 {{has no tag, expected one on every node}}
    // expected-note @+1 {{--htp-propagate-aux-tags tags what has no evidence of its own}}
    "t.Relu"(%x) : (tensor<2xf32>) -> ()
    return
  }
}

// -----

module {
  // expected-note @below {{the nearest module of this tree is 'layers.0'}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @below {{tag names the module 'layers.0.fc', which is not in the tree}}
    "t.Relu"(%x) {htp.tag = #htp.tag<"layers.0.fc">} : (tensor<2xf32>) -> ()
    return
  }
}

// -----

module {
  // expected-note @below {{the nearest module of this tree is ''}}
  htp.hierarchy @Net : "demo.Net" {
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @below {{a context of the tag names the module 'a', which is not in the tree}}
    "t.Relu"(%x) {htp.tag = #htp.tag<"", contexts = [#htp.context<"a">]>} : (tensor<2xf32>) -> ()
    return
  }
}

// -----

module {
  // expected-note @below {{the nearest module of this tree is ''}}
  htp.hierarchy @Net : "demo.Net" {
  }
  func.func @f() {
    // expected-error @below {{attribute 'htp.users' names the module 'a', which is not in the tree}}
    %w = "t.Constant"() {onnx.initializer, htp.users = ["a"]} : () -> tensor<2xf32>
    return
  }
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.Layer" calls 2
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @+2 {{is tagged with call 2 of the module 'a', expected a call below 2}}
    // expected-note @+1 {{the tag rests on evidence 'name': because}}
    "t.Relu"(%x) {htp.tag = #htp.tag<"a", call = 2, evidence = "name", reason = "because">} : (tensor<2xf32>) -> ()
    return
  }
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @+2 {{has a confidence of 1.500000e+00, expected one between 0 and 1}}
    // expected-note @+1 {{the tag rests on evidence 'name'}}
    "t.Relu"(%x) {htp.tag = #htp.tag<"", evidence = "name", confidence = 1.5>} : (tensor<2xf32>) -> ()
    return
  }
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.Layer"
    htp.module @b : "demo.Layer"
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-error @unknown {{is tagged with the module 'a' (call 0), but its location names 'b' (call 1)}}
    // expected-note @unknown {{the tag rests on evidence 'name'}}
    "t.Relu"(%x) {htp.tag = #htp.tag<"a", evidence = "name">} : (tensor<2xf32>) -> () loc(fused<{htp.call = 1 : i64, htp.scope = "b"}>["r"])
    return
  }
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
    htp.module @layers.1 : "demo.Layer"
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-note @below {{the op around it is tagged /Net/Layer.0 by evidence 'name'}}
    "t.If"(%x) ({
      // expected-error @below {{is tagged /Net/Layer.1 inside of an op of another layer}}
      "t.Relu"(%x) {htp.tag = #htp.tag<"layers.1">} : (tensor<2xf32>) -> ()
      "t.Relu"(%x) {htp.tag = #htp.tag<"">} : (tensor<2xf32>) -> ()
    }) {htp.tag = #htp.tag<"layers.0", evidence = "name">} : (tensor<2xf32>) -> ()
    return
  }
}
