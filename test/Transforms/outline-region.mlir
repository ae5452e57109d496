// RUN: htp-opt %s --htp-outline=form=region -allow-unregistered-dialect | FileCheck %s
// RUN: htp-opt %s --htp-outline="form=region torch-nn=true min-ops=1" -allow-unregistered-dialect | htp-opt -allow-unregistered-dialect | FileCheck %s --check-prefix=ALL

htp.hierarchy @Net : "demo.Net" {
  htp.module @outer : "demo.Outer"
  htp.module @outer.inner : "demo.Inner"
  htp.module @outer.inner.act : "torch.nn.modules.activation.ReLU" torch_nn
}
// CHECK-LABEL: func @nested
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = htp.region "outer" : tensor<4xf32> attributes {htp.order = array<i64: 2, 1>, htp.tag = #htp.tag<"outer">} {
  // CHECK-NEXT:   %[[I:.*]] = htp.region "outer.inner" : tensor<4xf32>
  // CHECK-NEXT:     "d.relu"(%arg0) {htp.tag = #htp.tag<"outer.inner.act">}
  // CHECK-NEXT:     %[[E:.*]] = "d.elu"
  // CHECK-NEXT:     htp.yield %[[E]] : tensor<4xf32>
  // CHECK:        %[[L:.*]] = "d.elu"(%[[I]])
  // CHECK-NEXT:   htp.yield %[[L]]
  // CHECK:      return %[[R]]
  // ALL: htp.region "outer.inner.act"
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"outer.inner.act">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.elu"(%0) {htp.tag = #htp.tag<"outer.inner">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.elu"(%1) {htp.tag = #htp.tag<"outer">} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
