// Inlining gives back what was there, locations included, in each form.
// RUN: htp-opt %S/outline.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope -o %t.flat
// RUN: htp-opt %S/outline.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope --htp-outline --htp-inline -o %t.inlined
// RUN: diff %t.flat %t.inlined
// RUN: htp-opt %S/outline.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope --htp-outline=share=false --htp-inline -o %t.unshared
// RUN: diff %t.flat %t.unshared
// RUN: htp-opt %S/outline.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope --htp-outline=form=region --htp-inline -o %t.region
// RUN: diff %t.flat %t.region
// Also through a file.
// RUN: htp-opt %S/outline.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo --htp-outline -o %t.outlined.mlir
// RUN: htp-opt %t.outlined.mlir -split-input-file -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope --htp-inline -o %t.again
// RUN: diff %t.flat %t.again
// RUN: htp-opt %s --htp-inline -allow-unregistered-dialect | FileCheck %s

// A body that was changed since: what was added stays, in the order of the calls.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Layer"
  htp.module @b : "demo.Layer"
}
// CHECK-LABEL: func @changed
func.func @changed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "d.relu"({{.*}}) {htp.tag = #htp.tag<"a">}
  // CHECK-NEXT: "d.new"
  // CHECK-NEXT: "d.relu"({{.*}}) {htp.tag = #htp.tag<"b.act">}
  // CHECK-NEXT: %[[R:.*]] = "d.new"
  // CHECK-NEXT: return %[[R]]
  %0 = func.call @Layer(%x) {htp.order = array<i64: 1, 1>, htp.tag = #htp.tag<"a">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @Layer(%0) {htp.order = array<i64: 0, 1>, htp.originals = #htp.originals<[{htp.tag = #htp.tag<"b.act">}, {}]>, htp.tag = #htp.tag<"b">} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-NOT: @Layer
func.func private @Layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "a"} {
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.new"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
