// RUN: split-file %s %t
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/same.json 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/overlap.json 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/module.json 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/key.json 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/assign.json 2>&1 | FileCheck %s --check-prefix=ASSIGN
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=policy=%t/overrides.json 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=overrides=%t/overrides.json 2>&1 | FileCheck %s --check-prefix=OVERRIDES
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=overrides=%t/nosuch.json 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not htp-opt %t/model.mlir -allow-unregistered-dialect -htp-resolve-contamination=patterns=residual,nosuch 2>&1 | FileCheck %s --check-prefix=PATTERN

// SAME: error: policy '{{.*}}same.json': rules 'a' and 'b' match the same nodes and assign them differently
// OVERLAP: error: rules 'a' and 'b' of the policy contradict each other: 'layer.0' or 'layer.1'
// MODULE: error: policy '{{.*}}module.json', rule 'a': {{.*}}layer.7
// KEY: error: policy '{{.*}}key.json': unknown key at policy.rules[0].match.optype
// ASSIGN: error: policy '{{.*}}assign.json': expected "producer", "consumer", "ancestor" or an object with "module" at policy.rules[0].assign
// FORMAT: error: policy '{{.*}}overrides.json': {{.*}}
// OVERRIDES: error: overrides '{{.*}}overrides.json': 2 of 3 name no module of the tree, the first is node 'b'
// MISSING: error: overrides '{{.*}}nosuch.json': No such file or directory
// PATTERN: error: no resolution pattern is called 'nosuch', expected one of residual, exporter-made, cross-attention, provenance, several-contexts, common-ancestor

//--- model.mlir
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "d.fc"(%x) {htp.tag = #htp.tag<"layer.0", evidence = "name", confidence = 0.99>} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

//--- same.json
{"format": "htp-policy", "version": 1, "rules": [
  {"name": "a", "match": {"op_type": "fc"}, "assign": "producer"},
  {"name": "b", "match": {"op_type": "fc"}, "assign": "consumer"}]}

//--- overlap.json
{"format": "htp-policy", "version": 1, "rules": [
  {"name": "a", "match": {"op_type": "fc"}, "assign": {"module": "layer.0"}},
  {"name": "b", "match": {"evidence": "name"}, "assign": {"module": "layer.1"}}]}

//--- module.json
{"format": "htp-policy", "version": 1, "rules": [
  {"name": "a", "match": {"op_type": "fc"}, "assign": {"module": "layer.7"}}]}

//--- key.json
{"format": "htp-policy", "version": 1, "rules": [{"name": "a", "match": {"optype": "fc"}, "assign": "producer"}]}

//--- assign.json
{"format": "htp-policy", "version": 1, "rules": [{"name": "a", "match": {"op_type": "fc"}, "assign": "parent"}]}

//--- overrides.json
{"format": "htp-overrides", "version": 1, "nodes": {"a": "layer.0", "b": "layer.7", "c": "nosuch"}}
