// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy -split-input-file | FileCheck %s

// Notes that contradict the module that owns the node's parameters lose (an exporter loses track in control flow and
// under autocast); here they do so often, so that all notes of the file count less.

// CHECK-LABEL: func @wrong_notes
func.func @wrong_notes(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["a.l.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.Gemm"{{.*}}htp.tag = #htp.tag<"a.l", evidence = "parameter", confidence = 0.85, {{.*}}contexts = [#htp.context<"", evidence = "metadata", confidence = 0.1>]>
  %0 = "t.Gemm"(%x, %w) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'linear']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'aten.linear.default']"]]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"", evidence = "metadata", confidence = 0.5
  %1 = "t.Relu"(%0) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'relu']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'aten.relu.default']"]]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
