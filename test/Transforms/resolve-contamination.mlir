// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file -htp-resolve-contamination | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect -split-input-file -htp-resolve-contamination -o %t.mlir \
// RUN:   --remarks-filter=htp-resolve --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// How sure a pattern is was counted, so that these tags are less sure than any.

// `x + f(x)`: the join of a layer's input and its output is the layer's, not
// that of the layer that follows. The one that lost is a context.
//
// CHECK-LABEL: @residual
// CHECK: "d.add"
// CHECK-SAME: #htp.tag<"layer.0", evidence = "consumer", confidence = {{[0-9.]+}}, reason = "residual connection of 'layer.0'", contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.05>]>
// REMARK: remark: [Passed] residual | Category:htp-resolve | Function=residual
// REMARK-SAME: Remark="residual connection of 'layer.0'"
// REMARK-SAME: module=layer.0
// REMARK-SAME: was=layer.1
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.0.fc : "torch.nn.Linear" torch_nn
  htp.module @layer.1 : "demo.Layer"
  htp.module @layer.1.fc : "torch.nn.Linear" torch_nn
}
func.func @residual(%x: tensor<4xf32>) -> tensor<4xf32> {
  %norm = "d.norm"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %made = "d.fc"(%norm) {htp.tag = #htp.tag<"layer.0.fc", evidence = "parameter", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %sum = "d.add"(%x, %made) {htp.tag = #htp.tag<"layer.1", evidence = "alignment", confidence = 0.05, contexts = [#htp.context<"layer.0", evidence = "alignment", confidence = 0.4>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %next = "d.fc"(%sum) {htp.tag = #htp.tag<"layer.1.fc", evidence = "parameter", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// -----

// What the node says itself stands, whatever its neighbours say. Both sides of
// the dispute come out as a remark.
//
// CHECK-LABEL: @direct
// CHECK: "d.add"
// CHECK-SAME: #htp.tag<"layer.1", evidence = "name"
// REMARK: remark: [Analysis] direct-evidence | Category:htp-resolve | Function=direct
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}
func.func @direct(%x: tensor<4xf32>) -> tensor<4xf32> {
  %made = "d.fc"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %sum = "d.add"(%x, %made) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.6, contexts = [#htp.context<"layer.0", evidence = "parameter", confidence = 0.4>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// Nothing disagrees: nothing changes, though the residual pattern would have a
// say. A context below the tag's module is a user of a shared node.
//
// CHECK-LABEL: @no_conflict
// CHECK: "d.mask"
// CHECK-SAME: #htp.tag<"", evidence = "ancestor", confidence = 0.5, contexts = [#htp.context<"layer.0", evidence = "consumer", confidence = 0.5>, #htp.context<"layer.1"
// CHECK: "d.add"
// CHECK-SAME: #htp.tag<"layer.0", evidence = "alignment", confidence = 0.5>
// REMARK-NOT: Function=no_conflict
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}
func.func @no_conflict(%x: tensor<4xf32>) -> tensor<4xf32> {
  %mask = "d.mask"(%x) {htp.tag = #htp.tag<"", evidence = "ancestor", confidence = 0.5, contexts = [#htp.context<"layer.0", evidence = "consumer", confidence = 0.5>, #htp.context<"layer.1", evidence = "consumer", confidence = 0.5>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %made = "d.fc"(%mask) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %sum = "d.add"(%mask, %made) {htp.tag = #htp.tag<"layer.0", evidence = "alignment", confidence = 0.5>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %next = "d.fc"(%sum, %mask) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.99>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// -----

// The decoder's attention over what the encoder made goes on in the decoder.
//
// CHECK-LABEL: @cross_attention
// CHECK: "d.matmul"
// CHECK-SAME: #htp.tag<"decoder.attn", evidence = "consumer", confidence = {{[0-9.]+}}, reason = "reads values of several branches and goes on in 'decoder'"
// REMARK: [Passed] cross-attention {{.*}}Function=cross_attention
htp.hierarchy @Net : "demo.Net" {
  htp.module @encoder : "demo.Encoder"
  htp.module @decoder : "demo.Decoder"
  htp.module @decoder.attn : "demo.Attention"
}
func.func @cross_attention(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = "d.fc"(%x) {htp.tag = #htp.tag<"encoder", evidence = "name", confidence = 0.99>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = "d.fc"(%y) {htp.tag = #htp.tag<"decoder.attn", evidence = "name", confidence = 0.99>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = "d.matmul"(%q, %k) {htp.tag = #htp.tag<"encoder", evidence = "alignment", confidence = 0.05, contexts = [#htp.context<"decoder", evidence = "alignment", confidence = 0.4>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = "d.softmax"(%s) {htp.tag = #htp.tag<"decoder.attn", evidence = "name", confidence = 0.99>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

// -----

// A cast between two nodes of a layer is the layer's: all neighbours of its
// tag's module lie elsewhere.
//
// CHECK-LABEL: @exporter_made
// CHECK: "d.cast"
// CHECK-SAME: #htp.tag<"layer.0", call = 1, evidence = "producer", confidence = {{[0-9.]+}}, reason = "lies between nodes of 'layer.0'", contexts = [#htp.context<"layer.1", evidence = "producer", confidence = 0.05>]>
// REMARK: [Passed] exporter-made {{.*}}Function=exporter_made
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer" calls 2
  htp.module @layer.1 : "demo.Layer"
}
func.func @exporter_made(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "d.fc"(%x) {htp.tag = #htp.tag<"layer.0", call = 1, evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "d.cast"(%a) {htp.tag = #htp.tag<"layer.1", evidence = "producer", confidence = 0.05>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "d.fc"(%b) {htp.tag = #htp.tag<"layer.0", call = 1, evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Provenance: one module made what it reads. Less confident than a strong tag.
//
// CHECK-LABEL: @provenance
// CHECK: "d.reshape"
// CHECK-SAME: #htp.tag<"layer.0", evidence = "producer", confidence = {{[0-9.]+}}, reason = "all that it reads was made by 'layer.0'"
// CHECK: "d.other"
// CHECK-SAME: #htp.tag<"layer.2", evidence = "alignment", confidence = 0.85>
// REMARK: [Passed] provenance {{.*}}Function=provenance
// REMARK: [Missed] provenance {{.*}}Function=provenance
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
  htp.module @layer.2 : "demo.Layer"
}
func.func @provenance(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "d.fc"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "d.reshape"(%a) {htp.tag = #htp.tag<"layer.2", evidence = "alignment", confidence = 0.05>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "d.fc"(%b) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "d.other"(%a) {htp.tag = #htp.tag<"layer.2", evidence = "alignment", confidence = 0.85>} : (tensor<4xf32>) -> tensor<4xf32>
  %e = "d.fc"(%c, %d) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.99>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// Four claims, none with most of the evidence: what they share. And a node that
// several layers read and one of them was given without having made it.
//
// CHECK-LABEL: @shared
// CHECK: "d.bias"
// CHECK-SAME: #htp.tag<"layer", evidence = "ancestor", confidence = {{[0-9.]+}}, reason = "4 modules claim it, which 'layer' holds"
// CHECK: "d.mask"
// CHECK-SAME: #htp.tag<"layer", evidence = "ancestor", confidence = {{[0-9.]+}}, reason = "read by several modules of 'layer'", contexts = [#htp.context<"layer.0", evidence = "alignment"
// REMARK: [Passed] several-contexts {{.*}}Function=shared
// REMARK: [Passed] common-ancestor {{.*}}Function=shared
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "torch.nn.ModuleList" torch_nn
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
  htp.module @layer.2 : "demo.Layer"
  htp.module @layer.3 : "demo.Layer"
}
func.func @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %bias = "d.bias"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "alignment", confidence = 0.3, contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.25>, #htp.context<"layer.2", evidence = "alignment", confidence = 0.25>, #htp.context<"layer.3", evidence = "alignment", confidence = 0.2>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %mask = "d.mask"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "alignment", confidence = 0.05, contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.3>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %a = "d.fc"(%bias, %mask) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = "d.fc"(%a, %mask) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.99>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
