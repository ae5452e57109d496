// RUN: htp-opt %s -o %t.onnx
// RUN: htp-opt %t.onnx | FileCheck %s
// RUN: htp-opt %t.onnx --htp-attach-hierarchy | FileCheck %s --check-prefix=AGAIN
// RUN: htp-opt %t.onnx --htp-attach-hierarchy -o %t.again.onnx && cmp %t.onnx %t.again.onnx
// RUN: htp-opt %s --htp-strip -o %t.plain.onnx
// RUN: htp-opt %t.onnx --htp-strip -o %t.stripped.onnx && cmp %t.plain.onnx %t.stripped.onnx
// RUN: htp-opt %s --tag-storage=attribute -o %t.attributes.onnx 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: htp-opt %t.attributes.onnx | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: htp-opt %t.attributes.onnx --htp-strip -o %t.stripped.onnx && cmp %t.plain.onnx %t.stripped.onnx
// RUN: htp-opt %s --tag-storage=none -o %t.none.onnx --op-metadata=%t.ops.json && cmp %t.plain.onnx %t.none.onnx
// RUN: FileCheck %s --check-prefix=BESIDE --input-file=%t.ops.json
// RUN: htp-opt %s --torch-nn -o %t.nn.onnx && htp-opt %t.nn.onnx | FileCheck %s --check-prefix=NN

// A tagged model as ONNX: tags are metadata, ir_version is 10. Reading it again gives the same tags, tagging it again the same
// bytes, and stripping it the model without tags.

// BESIDE: /Net/Layer.0
// WARN: warning: tags are stored as node attributes, which onnx.checker and ONNX Runtime reject

// CHECK: onnx.ir_version = 10
// CHECK-SAME: ["producer_key", "kept"], ["htp.hierarchy", "{{.*}}demo.Net{{.*}}"], ["htp.ir_version", "8"]
// CHECK-NOT: htp.tag = #htp.tag
// AGAIN: htp.hierarchy @Net : "demo.Net"
module attributes {onnx.ir_version = 8 : si64, onnx.opset_import = [{domain = "", version = 17 : si64}], onnx.metadata_props = [["producer_key", "kept"]]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer" calls 2
    htp.module @layers.0.act : "torch.nn.modules.activation.ReLU" torch_nn
  }
  func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
    // CHECK: "onnx.Constant"
    // CHECK-SAME: ["htp.parameter", "layers.0.w"], ["htp.tags", "[\22/Net/Layer.0\22]"]
    %w = "onnx.Constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> {onnx.initializer, onnx_output_names = ["w"], htp.parameter = "layers.0.w", htp.users = ["layers.0"]} : () -> tensor<2xf32>
    // CHECK: "onnx.Add"
    // CHECK-SAME: ["namespace", "theirs"], ["htp.tag", "/Net/Layer.0"], ["htp.scope", "layers.0"], ["htp.call", "1"], ["htp.evidence", "name"], ["htp.confidence", "0.97"], ["htp.contexts", "[{\22confidence\22:0.5,\22evidence\22:\22consumer\22,\22scope\22:\22\22,\22tag\22:\22/Net\22}]"], ["htp.reason", "because"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'demo.Layer', 'Add']"], ["pkg.torch.onnx.name_scopes", "['', 'layers.0', 'add']"], ["htp.added", "pkg.torch.onnx.class_hierarchy,pkg.torch.onnx.name_scopes"]
    // AGAIN: "onnx.Add"{{.*}}htp.tag = #htp.tag<"layers.0", call = 1, evidence = "name", confidence = 0.97, reason = "because", contexts = [#htp.context<"", evidence = "consumer", confidence = 0.5>]>
    // ATTRIBUTE: "onnx.Add"
    // ATTRIBUTE-SAME: hierarchy_tags = ["/Net/Layer.0", "/Net"]
    // ATTRIBUTE-SAME: source_module = "layers.0"
    %0 = "onnx.Add"(%x, %w) {onnx_node_name = "add", onnx_output_names = ["a"], onnx.metadata_props = [["namespace", "theirs"]],
      htp.tag = #htp.tag<"layers.0", call = 1, evidence = "name", confidence = 0.97, reason = "because", contexts = [#htp.context<"", evidence = "consumer", confidence = 0.5>]>}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // CHECK: "onnx.Relu"
    // CHECK-SAME: ["htp.tag", "/Net/Layer.0"], ["htp.scope", "layers.0.act"], ["htp.evidence", "alignment"], ["htp.confidence", "1"], ["namespace", ": demo.Net/layers.0: demo.Layer/layers.0.act: torch.nn.modules.activation.ReLU/relu: Relu"]
    // NN: ["htp.tag", "/Net/Layer.0/ReLU"]
    %1 = "onnx.Relu"(%0) {onnx_node_name = "relu", onnx_output_names = ["y"], htp.tag = #htp.tag<"layers.0.act", evidence = "alignment">} : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Return %1 : tensor<2xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
