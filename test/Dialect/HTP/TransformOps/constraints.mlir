// PDL patterns that match in one module only.
// RUN: htp-opt %s --transform-interpreter -allow-unregistered-dialect | FileCheck %s

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer.0 : "demo.Layer"
    htp.module @layer.0.attention : "demo.Attention"
    htp.module @layer.1 : "demo.Layer"
    htp.module @layer.1.attention : "demo.Attention"
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: "t.softmax"{{.*}} {htp.tag = {{.*}}, of_attention}
    %0 = "t.softmax"(%x) {htp.tag = #htp.tag<"layer.0.attention">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.softmax"{{.*}} {of_attention, of_layer_1}
    %1 = "t.softmax"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "layer.1.attention"}>["s"])
    // CHECK: "t.softmax"{{.*}} {htp.tag = {{.*}}, of_layer_1}
    %2 = "t.softmax"(%1) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.softmax"(%{{[0-9]+}}) :
    %3 = "t.softmax"(%2) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: "t.other"{{.*}} {htp.tag = #htp.tag<"layer.1.attention">}
    %4 = "t.other"(%3) {htp.tag = #htp.tag<"layer.1.attention">} : (tensor<4xf32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }

  transform.named_sequence @__transform_main(%model: !transform.any_op {transform.readonly}) {
    transform.with_pdl_patterns %model : !transform.any_op {
    ^bb0(%root: !transform.any_op):
      pdl.pattern @of_class : benefit(1) {
        %operands = operands
        %types = types
        %op = operation "t.softmax"(%operands : !pdl.range<value>) -> (%types : !pdl.range<type>)
        %name = attribute = "Attention"
        apply_native_constraint "HTPInModuleOfClass"(%op, %name : !pdl.operation, !pdl.attribute)
        rewrite %op with "transform.dialect"
      }
      pdl.pattern @in_module : benefit(1) {
        %operands = operands
        %types = types
        %op = operation "t.softmax"(%operands : !pdl.range<value>) -> (%types : !pdl.range<type>)
        %path = attribute = "layer.1"
        apply_native_constraint "HTPInModule"(%op, %path : !pdl.operation, !pdl.attribute)
        rewrite %op with "transform.dialect"
      }
      sequence %root : !transform.any_op failures(propagate) {
      ^bb1(%payload: !transform.any_op):
        %0 = pdl_match @of_class in %payload : (!transform.any_op) -> !transform.any_op
        transform.annotate %0 "of_attention" : !transform.any_op
        %1 = pdl_match @in_module in %payload : (!transform.any_op) -> !transform.any_op
        transform.annotate %1 "of_layer_1" : !transform.any_op
      }
    }
    transform.yield
  }
}
