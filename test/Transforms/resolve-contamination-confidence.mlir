// Tags that are sure enough are left alone, unless another module's claim is as sure as they are unsure:
// `min-confidence` says what that means.
// RUN: htp-opt %s -allow-unregistered-dialect --htp-resolve-contamination=patterns=several-contexts | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: htp-opt %s -allow-unregistered-dialect --htp-resolve-contamination="patterns=several-contexts min-confidence=0.7" | FileCheck %s --check-prefixes=CHECK,LESS
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
  htp.module @b : "demo.B"
  htp.module @c : "demo.C"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // A claim of 0.2 is worth a look below 0.9 (from 0.1 on), and none below 0.7 (from 0.3 on).
  // DEFAULT: "d.one"{{.*}}reason = "3 modules claim it, most evidence is for 'a'"
  // LESS-NOT: "d.one"{{.*}}reason
  %0 = "d.one"(%x) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.6, contexts = [#htp.context<"b", evidence = "alignment", confidence = 0.2>, #htp.context<"c", evidence = "alignment", confidence = 0.01>]>} : (tensor<4xf32>) -> tensor<4xf32>
  // One of 0.3 always is, even against a tag that is sure.
  // CHECK: "d.two"{{.*}}reason = "3 modules claim it, most evidence is for 'a'"
  %1 = "d.two"(%0) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.95, contexts = [#htp.context<"b", evidence = "alignment", confidence = 0.35>, #htp.context<"c", evidence = "alignment", confidence = 0.01>]>} : (tensor<4xf32>) -> tensor<4xf32>
  // One of a module around the tag's is no dispute at all.
  // CHECK: "d.three"
  // CHECK-NOT: reason
  // CHECK: return
  %2 = "d.three"(%1) {htp.tag = #htp.tag<"a", evidence = "alignment", confidence = 0.95, contexts = [#htp.context<"", evidence = "alignment", confidence = 0.9>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
