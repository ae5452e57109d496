// RUN: htp-opt %s --transform-interpreter -split-input-file -verify-diagnostics -allow-unregistered-dialect

module attributes {transform.with_named_sequence} {
  // expected-note@+1 {{the module tree is here}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @attention : "demo.SelfAttention"
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{no module is of class 'SelfAttenton'; did you mean 'SelfAttention'?}}
    %0 = transform.htp.match_module class "SelfAttenton" in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note@+1 {{the module tree is here}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @encoder.layer.0 : "demo.Layer"
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{there is no module 'encoder.layr.0' in the module tree; did you mean 'encoder.layer.0'?}}
    %0 = transform.htp.match_module path "encoder.layr.0" in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note@+1 {{the module tree is here}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.A"
    htp.module @b : "demo.B"
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{no module of class 'B' is at 'a'}}
    %0 = transform.htp.match_module path "a" class "B" in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-note@+1 {{the payload is here}}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{the payload has no module tree (htp.hierarchy): run --htp-tag or --htp-attach-hierarchy first}}
    %0 = transform.htp.match_module path "a" in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{names no module: expected 'path' or 'class'}}
    %0 = transform.htp.match_module in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A matcher that asks for a module that is not there stops, too: no op would
// ever match.

module attributes {transform.with_named_sequence} {
  // expected-note@+1 {{the module tree is here}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.Attention"
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "t.op"(%x) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  transform.named_sequence @matcher(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["t.op"] : !transform.any_op
    // expected-error@+1 {{no module is of class 'Atention'; did you mean 'Attention'?}}
    transform.htp.match.in_module %op class "Atention" : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @say(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %root @matcher -> @say : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A function that several modules share is matched as a whole.

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer.0 : "demo.Layer"
    htp.module @layer.1 : "demo.Layer"
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @Layer(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note@+1 {{'layer.1' is called here}}
    %1 = call @Layer(%0) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // expected-warning@+1 {{function '@Layer' is the body of 'layer.0', which is matched, and of other modules: run --htp-outline=share=false to tell them apart}}
  func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer.0"} {
    return %x : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.htp.match_module path "layer.0" in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.htp.match_module class "Layer" in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
