// RUN: htp-opt %s -allow-unregistered-dialect -htp-resolve-contamination="policy=%S/Inputs/policy.json overrides=%S/Inputs/overrides.json" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN --input-file=%t.err

// What users say holds whatever the evidence; what matched nothing is counted.
//
// WARN: warning: rule 'nothing' of the policy matches no node
// WARN: warning: 2 of 3 overrides name no node of the model and no value that one makes, the first is '/gone'

// CHECK-LABEL: func.func @main
// CHECK: "d.cast"
// CHECK-SAME: #htp.tag<"layer.0", evidence = "override", reason = "rule 'casts with their readers' of the policy", contexts = [#htp.context<"layer.1", evidence = "metadata"
// CHECK: "d.mask"
// CHECK-SAME: #htp.tag<"layer", evidence = "override"{{.*}}reason = "rule 'weak masks' of the policy"
// CHECK: "d.mask"
// CHECK-SAME: #htp.tag<"layer.0", evidence = "name", confidence = 0.5>
// CHECK: "d.norm"
// CHECK-SAME: #htp.tag<"layer.1", evidence = "override"{{.*}}reason = "rule 'named' of the policy"
// CHECK: "d.add"
// CHECK-SAME: #htp.tag<"layer.1", evidence = "override"{{.*}}reason = "given by name in the overrides"
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "torch.nn.modules.container.ModuleList" torch_nn
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "d.cast"(%x) {htp.tag = #htp.tag<"layer.1", evidence = "metadata", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "d.mask"(%a) {htp.tag = #htp.tag<"layer.0", evidence = "alignment", confidence = 0.5>} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "d.mask"(%b) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.5>} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "d.norm"(%b) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  %e = "d.add"(%c, %d) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>, onnx_node_name = "/sum"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = "d.fc"(%e, %b) {htp.tag = #htp.tag<"layer.1", evidence = "name", confidence = 0.99>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}
