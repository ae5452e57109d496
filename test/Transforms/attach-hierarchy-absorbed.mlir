// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy=trace=%S/Inputs/absorbed.trace.json | FileCheck %s

// A convolution that took in the norm after it: the exporter notes the norm, and the node reads the convolution's weight. The
// notes are not wrong for that: those of other nodes count as ever.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["conv.weight"], value = dense<1.0> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  // CHECK: "onnx.Conv"{{.*}}htp.tag = #htp.tag<"conv", evidence = "parameter"{{.*}}contexts = [#htp.context<"norm", evidence = "metadata"
  %0 = "onnx.Conv"(%x, %w) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'norm', 'batch_norm']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'torch.nn.BatchNorm2d', 'aten.batch_norm.default']"]]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: "onnx.Abs"{{.*}}htp.tag = #htp.tag<"", evidence = "metadata", confidence = 0.99
  %1 = "onnx.Abs"(%0) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'abs']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'aten.abs.default']"]]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
