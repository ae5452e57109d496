// One pattern alone: a node that several modules claim.
// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file -htp-resolve-contamination=patterns=several-contexts | FileCheck %s

// More than half of the evidence is for one of them, which is not the tag's. All others are contexts.
// CHECK-LABEL: @most
// CHECK: "d.mask"{{.*}}htp.tag = #htp.tag<"c", evidence = "{{.*}}", confidence = {{.*}}, reason = "3 modules claim it, most evidence is for 'c'", contexts = [#htp.context<"a", evidence = "alignment", confidence = 0.01>, #htp.context<"b", evidence = "alignment", confidence = 0.1>]>
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
  htp.module @c : "demo.C"
}
func.func @most(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.mask"(%x) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.01, contexts = [#htp.context<"b", evidence = "alignment", confidence = 0.1>, #htp.context<"c", evidence = "alignment", confidence = 0.5>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// It is for the tag's: that is a reason to keep it. A reason that is given stays.
// CHECK-LABEL: @own
// CHECK: "d.mask"{{.*}}htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.8, reason = "3 modules claim it, most evidence is for 'a'", contexts =
// CHECK: "d.mask"{{.*}}htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.8, reason = "because", contexts =
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
  htp.module @c : "demo.C"
}
func.func @own(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.mask"(%x) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.8, contexts = [#htp.context<"b", evidence = "alignment", confidence = 0.2>, #htp.context<"c", evidence = "alignment", confidence = 0.2>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.mask"(%0) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.8, reason = "because", contexts = [#htp.context<"b", evidence = "alignment", confidence = 0.2>, #htp.context<"c", evidence = "alignment", confidence = 0.2>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// It is for nobody: the node goes to what all of them share, never to one of the layers.
// CHECK-LABEL: @nobody
// CHECK: "d.mask"{{.*}}htp.tag = #htp.tag<"block", evidence = "ancestor", confidence = {{.*}}, reason = "3 modules claim it, which 'block' holds", contexts =
// Two that claim a node are no business of this pattern.
// CHECK: "d.mask"{{.*}}htp.tag = #htp.tag<"block.0", evidence = "alignment", confidence = 0.02, contexts = [#htp.context<"block.1", evidence = "alignment", confidence = 0.4>]>
htp.hierarchy @Net : "demo.Net" {
  htp.module @block : "demo.Block"
  htp.module @block.0 : "demo.Layer"
  htp.module @block.1 : "demo.Layer"
  htp.module @block.2 : "demo.Layer"
}
func.func @nobody(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.mask"(%x) {htp.tag = #htp.tag<"block.0", evidence = "alignment", confidence = 0.02, contexts = [#htp.context<"block.1", evidence = "alignment", confidence = 0.15>, #htp.context<"block.2", evidence = "alignment", confidence = 0.15>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.mask"(%0) {htp.tag = #htp.tag<"block.0", evidence = "alignment", confidence = 0.02, contexts = [#htp.context<"block.1", evidence = "alignment", confidence = 0.4>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
