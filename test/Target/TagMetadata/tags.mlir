// RUN: htp-opt %s -o %t.onnx
// RUN: %python %S/Inputs/metadata.py %t.onnx | FileCheck %s --check-prefix=FILE
// RUN: htp-opt %t.onnx --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: htp-opt %t.onnx -o %t.copy.onnx && cmp %t.onnx %t.copy.onnx
// RUN: htp-opt %t.onnx --htp-attach-hierarchy -o %t.again.onnx && cmp %t.onnx %t.again.onnx
// RUN: htp-opt %t.onnx -o %t.mlir && htp-opt %t.mlir -o %t.again.onnx && cmp %t.onnx %t.again.onnx
// RUN: htp-opt %s --htp-strip -o %t.plain.onnx
// RUN: htp-opt %t.onnx --htp-strip -o %t.stripped.onnx && cmp %t.plain.onnx %t.stripped.onnx
// RUN: htp-opt %s --tag-storage=attribute -o %t.attributes.onnx 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: %python -c "import onnx, sys; print(onnx.load(sys.argv[1]).graph.node)" %t.attributes.onnx | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: htp-opt %t.attributes.onnx --htp-strip -o %t.stripped.onnx && cmp %t.plain.onnx %t.stripped.onnx
// RUN: htp-opt %t.attributes.onnx | FileCheck %s --check-prefix=FROM-ATTRIBUTE
// RUN: htp-opt %s --tag-storage=none -o %t.none.onnx --op-metadata=%t.ops.json && cmp %t.plain.onnx %t.none.onnx
// RUN: FileCheck %s --check-prefix=BESIDE --input-file=%t.ops.json
// RUN: htp-opt %s --torch-nn -o %t.nn.onnx && %python %S/Inputs/metadata.py %t.nn.onnx | FileCheck %s --check-prefix=NN
// RUN: htp-opt %t.nn.onnx -o %t.again.onnx && cmp %t.nn.onnx %t.again.onnx
// RUN: htp-opt %t.nn.onnx --htp-attach-hierarchy -o %t.again.onnx && cmp %t.nn.onnx %t.again.onnx

// A tagged model as ONNX: tags are metadata, ir_version is 10. Reading it gives the same tags, writing it again the same bytes, and
// stripping it the model without tags.

// BESIDE: /Net/Layer.0
// WARN: warning: tags are stored as node attributes, which onnx.checker and ONNX Runtime reject

// FILE: ir_version 10
// FILE-NEXT: model: producer_key = kept
// FILE-NEXT: model: htp.hierarchy = {{.*}}demo.Net
// FILE-NEXT: model: htp.ir_version = 8
// FILE-NEXT: input x: their = note
// FILE-NEXT: input x: htp.tags = ["/Net/Layer.0"]
// NN: model: htp.torch_nn = true

// CHECK: module attributes
// CHECK-SAME: onnx.ir_version = 8
// CHECK-SAME: onnx.metadata_props = {{\[\[}}"producer_key", "kept"]]
// CHECK: htp.hierarchy @Net : "demo.Net"
// CHECK: onnx.metadata_props = {{\[\[}}"their", "note"]], onnx.name = "x"
module attributes {onnx.ir_version = 8 : si64, onnx.opset_import = [{domain = "", version = 17 : si64}], onnx.metadata_props = [["producer_key", "kept"]]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer" calls 2
    htp.module @layers.0.act : "torch.nn.modules.activation.ReLU" torch_nn
  }
  func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x", onnx.metadata_props = [["their", "note"]]}) -> (tensor<2xf32> {onnx.name = "y"}) {
    // FILE-NEXT: initializer w: htp.parameter = layers.0.w
    // FILE-NEXT: initializer w: htp.tags = ["/Net/Layer.0"]
    // FILE-NEXT: initializer w: htp.users = ["layers.0"]
    // CHECK: "onnx.Constant"{{.*}}htp.parameter = "layers.0.w", htp.users = ["layers.0"]
    %w = "onnx.Constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> {onnx.initializer, onnx_output_names = ["w"], htp.parameter = "layers.0.w", htp.users = ["layers.0"]} : () -> tensor<2xf32>
    // Nobody reads this one: who would is a note of its own, or it would be lost.
    // FILE-NEXT: initializer unread: htp.parameter = layers.0.b
    // FILE-NEXT: initializer unread: htp.tags = ["/Net/Layer.0"]
    // FILE-NEXT: initializer unread: htp.users = ["layers.0.act"]
    // CHECK: "onnx.Constant"{{.*}}htp.parameter = "layers.0.b", htp.users = ["layers.0.act"]
    %b = "onnx.Constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> {onnx.initializer, onnx_output_names = ["unread"], htp.parameter = "layers.0.b", htp.users = ["layers.0.act"]} : () -> tensor<2xf32>
    // FILE-NEXT: Add: namespace = theirs
    // FILE-NEXT: Add: htp.tag = /Net/Layer.0
    // FILE-NEXT: Add: htp.scope = layers.0
    // FILE-NEXT: Add: htp.call = 1
    // FILE-NEXT: Add: htp.evidence = name
    // FILE-NEXT: Add: htp.confidence = 0.97
    // FILE-NEXT: Add: htp.contexts = [{"confidence":0.5,"evidence":"consumer","scope":"","tag":"/Net"}]
    // FILE-NEXT: Add: htp.reason = because
    // FILE-NEXT: Add: pkg.torch.onnx.class_hierarchy = ['demo.Net', 'demo.Layer', 'Add']
    // FILE-NEXT: Add: pkg.torch.onnx.name_scopes = ['', 'layers.0', 'add']
    // FILE-NEXT: Add: htp.added = pkg.torch.onnx.class_hierarchy,pkg.torch.onnx.name_scopes
    // CHECK: "onnx.Add"
    // CHECK-SAME: htp.tag = #htp.tag<"layers.0", call = 1, evidence = "name", confidence = 0.97, reason = "because", contexts = [#htp.context<"", evidence = "consumer", confidence = 0.5>]>
    // CHECK-SAME: onnx.metadata_props = {{\[\[}}"namespace", "theirs"]]
    // CHECK-SAME: loc(fused<{htp.call = 1 : i64, htp.scope = "layers.0"}>["add"])
    // ATTRIBUTE: "hierarchy_tags"
    // ATTRIBUTE: "/Net/Layer.0"
    // ATTRIBUTE: "/Net"
    // ATTRIBUTE: "source_module"
    // ATTRIBUTE: "layers.0"
    // FROM-ATTRIBUTE: "onnx.Add"{{.*}}htp.tag = #htp.tag<"layers.0">
    %0 = "onnx.Add"(%x, %w) {onnx_node_name = "add", onnx_output_names = ["a"], onnx.metadata_props = [["namespace", "theirs"]],
      htp.tag = #htp.tag<"layers.0", call = 1, evidence = "name", confidence = 0.97, reason = "because", contexts = [#htp.context<"", evidence = "consumer", confidence = 0.5>]>}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // FILE-NEXT: Relu: htp.tag = /Net/Layer.0
    // FILE-NEXT: Relu: htp.scope = layers.0.act
    // FILE-NEXT: Relu: htp.evidence = alignment
    // FILE-NEXT: Relu: htp.confidence = 1
    // FILE-NEXT: Relu: namespace = : demo.Net/layers.0: demo.Layer/layers.0.act: torch.nn.modules.activation.ReLU{{$}}
    // CHECK: "onnx.Relu"(%a) {htp.tag = #htp.tag<"layers.0.act", evidence = "alignment">, onnx_node_name
    // NN: Relu: htp.tag = /Net/Layer.0/ReLU
    %1 = "onnx.Relu"(%0) {onnx_node_name = "relu", onnx_output_names = ["y"], htp.tag = #htp.tag<"layers.0.act", evidence = "alignment">} : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Return %1 : tensor<2xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
