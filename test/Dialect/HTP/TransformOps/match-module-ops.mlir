// What belongs to a module: attributes show it.
// RUN: htp-opt %s --transform-interpreter -split-input-file -allow-unregistered-dialect | FileCheck %s

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.A"
    htp.module @a.b : "demo.B"
    htp.module @a.c : "demo.B"
    htp.module @d : "demo.B" aliases ["d_again"]
  }
  // CHECK-LABEL: func.func @members
  func.func @members(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: "t.one"{{.*}} {htp.tag = {{.*}}, in_a, in_b_of_a}
    %0 = "t.one"(%x) {htp.tag = #htp.tag<"a.b">} : (tensor<4xf32>) -> tensor<4xf32>
    // The tag is the answer, the location only what is left without one.
    // CHECK: "t.two"{{.*}} {htp.tag = {{.*}}, in_a}
    %1 = "t.two"(%0) {htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "d"}>["two"])
    // Made of ops of two modules: of the one that both lie in.
    // CHECK: "t.fused"{{.*}} {in_a, in_b_of_a}
    %2 = "t.fused"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc(fused[fused<{htp.scope = "a.b"}>["x"], fused<{htp.scope = "a.c"}>["y"]])
    // CHECK: "t.across"(%{{[0-9]+}}) :
    %3 = "t.across"(%2) : (tensor<4xf32>) -> tensor<4xf32> loc(fused[fused<{htp.scope = "a.b"}>["x"], fused<{htp.scope = "d"}>["y"]])
    // An op that says nothing of itself is of the module around it.
    // CHECK: "t.region"
    // CHECK-NEXT: "t.inner"{{.*}} {in_a, in_b_of_a}
    // CHECK: {htp.tag = {{.*}}, in_a, in_b_of_a}
    %4 = "t.region"(%3) ({
      %inner = "t.inner"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      "t.yield"(%inner) : (tensor<4xf32>) -> ()
    }) {htp.tag = #htp.tag<"a.c">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.other"{{.*}} {htp.tag = {{.*}}, in_d}
    %5 = "t.other"(%4) {htp.tag = #htp.tag<"d">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.untagged"(%{{[0-9]+}}) :
    %6 = "t.untagged"(%5) : (tensor<4xf32>) -> tensor<4xf32>
    return %6 : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %a = transform.htp.match_module path "a" in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %a "in_a" : !transform.any_op
    %b = transform.htp.match_module path "a.*" class "demo.B" in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %b "in_b_of_a" : !transform.any_op
    %d = transform.htp.match_module path "d_again" in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %d "in_d" : !transform.any_op
    transform.yield
  }
}

// -----

// In the body of an outlined function paths are relative to its module.

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer.0 : "demo.Layer"
    htp.module @layer.0.act : "demo.Act"
    htp.module @layer.1 : "demo.Layer"
    htp.module @layer.1.act : "demo.Act"
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @Layer(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @Layer(%0) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @Layer
  func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer.0"} {
    // CHECK: "t.act"{{.*}}, in_act, in_layer}
    %0 = "t.act"(%x) {htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.own"{{.*}} {in_layer}
    %1 = "t.own"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = ""}>["own"])
    // CHECK: "t.silent"{{.*}} {in_layer}
    %2 = "t.silent"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %act = transform.htp.match_module class "Act" in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %act "in_act" : !transform.any_op
    %layer = transform.htp.match_module class "Layer" in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %layer "in_layer" : !transform.any_op
    transform.yield
  }
}

// -----

// As a matcher of foreach_match.

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @encoder.layer.0 : "demo.Layer"
    htp.module @encoder.layer.1 : "demo.Layer"
    htp.module @decoder : "demo.Layer"
  }
  // CHECK-LABEL: func.func @each
  func.func @each(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: "t.op"{{.*}} {htp.tag = {{.*}}, of_encoder}
    %0 = "t.op"(%x) {htp.tag = #htp.tag<"encoder.layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.op"{{.*}} {of_encoder}
    %1 = "t.op"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "encoder.layer.1"}>["op"])
    // CHECK: "t.op"{{.*}} {htp.tag = #htp.tag<"decoder">}
    %2 = "t.op"(%1) {htp.tag = #htp.tag<"decoder">} : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  transform.named_sequence @is_of_encoder(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["t.op"] : !transform.any_op
    transform.htp.match.in_module %op path "encoder.**" class "Layer" : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @mark(%op: !transform.any_op {transform.readonly}) {
    transform.annotate %op "of_encoder" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %root @is_of_encoder -> @mark : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
