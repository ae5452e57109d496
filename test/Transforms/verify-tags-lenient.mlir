// RUN: htp-opt %s -allow-unregistered-dialect --htp-verify-tags=strict=false -verify-diagnostics

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer"
    htp.module @layers.1 : "demo.Layer"
  }
  func.func @f(%x: tensor<2xf32>) {
    // expected-note @below {{the op around it is tagged /Net/Layer.0 by evidence 'name'}}
    "t.If"(%x) ({
      // expected-warning @below {{is tagged /Net/Layer.1 inside of an op of another layer}}
      "t.Relu"(%x) {htp.tag = #htp.tag<"layers.1">} : (tensor<2xf32>) -> ()
    }) {htp.tag = #htp.tag<"layers.0", evidence = "name">} : (tensor<2xf32>) -> ()
    return
  }
}
