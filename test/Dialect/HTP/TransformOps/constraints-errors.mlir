// RUN: htp-opt %s --transform-interpreter -verify-diagnostics -allow-unregistered-dialect

// A constraint cannot fail a run: what it cannot find it says once.

module attributes {transform.with_named_sequence} {
  // expected-warning@+1 {{a pattern asks for a module that is not there: no module is of class 'Atention'; did you mean 'Attention'?}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @attention : "demo.Attention"
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "t.softmax"(%x) {htp.tag = #htp.tag<"attention">} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "t.softmax"(%0) {htp.tag = #htp.tag<"attention">} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%model: !transform.any_op {transform.readonly}) {
    transform.with_pdl_patterns %model : !transform.any_op {
    ^bb0(%root: !transform.any_op):
      pdl.pattern @of_class : benefit(1) {
        %operands = operands
        %types = types
        %op = operation "t.softmax"(%operands : !pdl.range<value>) -> (%types : !pdl.range<type>)
        %name = attribute = "Atention"
        apply_native_constraint "HTPInModuleOfClass"(%op, %name : !pdl.operation, !pdl.attribute)
        rewrite %op with "transform.dialect"
      }
      sequence %root : !transform.any_op failures(propagate) {
      ^bb1(%payload: !transform.any_op):
        %0 = pdl_match @of_class in %payload : (!transform.any_op) -> !transform.any_op
      }
    }
    transform.yield
  }
}
