// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy -split-input-file | FileCheck %s

// Notes that contradict the module that owns the node's parameters lose (an exporter loses track in control flow and
// under autocast); here they do so often, so that all notes of the file count less.

// CHECK-LABEL: func @wrong_notes
func.func @wrong_notes(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["a.l.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.Gemm"{{.*}}htp.tag = #htp.tag<"a.l", evidence = "parameter", confidence = {{[0-9.]+}}, {{.*}}contexts = [#htp.context<"", evidence = "metadata", confidence = {{[0-9.]+}}>]>
  %0 = "t.Gemm"(%x, %w) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'linear']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'aten.linear.default']"]]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "t.Relu"{{.*}}htp.tag = #htp.tag<"", evidence = "metadata", confidence = {{[0-9.]+}}
  %1 = "t.Relu"(%0) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'relu']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'aten.relu.default']"]]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A tied parameter has one name in the file: that of the head, whose own copy the exporter transposed. The embedding's
// notes stand, though it has a buffer of its own.

// CHECK-LABEL: func @tied
func.func @tied(%x: tensor<2xi64>, %h: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>) {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["head.weight"], value = dense<1.0> : tensor<8x4xf32>} : () -> tensor<8x4xf32>
  %2 = "t.Constant"() {onnx.initializer, onnx_output_names = ["val_7"], value = dense<1.0> : tensor<4x8xf32>} : () -> tensor<4x8xf32>
  %s = "t.Constant"() {onnx.initializer, onnx_output_names = ["embed.scale"], value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: "t.Gather"{{.*}}htp.tag = #htp.tag<"embed", evidence = "metadata", confidence = {{[0-9.]+}}
  %0 = "t.Gather"(%w, %x) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'embed', 'embedding']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'demo.Scaled', 'aten.embedding.default']"]]} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %1 = "t.Mul"(%0, %s) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'embed', 'mul']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'demo.Scaled', 'aten.mul.Tensor']"]]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: "t.MatMul"{{.*}}htp.tag = #htp.tag<"head"
  %3 = "t.MatMul"(%h, %2) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'head', 'linear']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'torch.nn.Linear', 'aten.linear.default']"]]} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x8xf32>
}

// -----

// A convolution that took in the norm after it: the exporter notes the norm, the weight has the convolution's name. It is the
// convolution's, with the norm as a context.

// CHECK-LABEL: func @absorbed_norm
func.func @absorbed_norm(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["stem.conv.weight"], value = dense<1.0> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %p = "onnx.Abs"(%x) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'stem', 'stem.conv', 'abs']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'demo.Stem', 'torch.nn.Conv2d', 'aten.abs.default']"]]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: "onnx.Conv"{{.*}}htp.tag = #htp.tag<"stem.conv", evidence = "parameter", {{.*}}contexts = [#htp.context<"stem.norm", evidence = "metadata"
  %0 = "onnx.Conv"(%p, %w) {onnx.metadata_props = [["pkg.torch.onnx.name_scopes", "['', 'stem', 'stem.norm', 'batch_norm']"], ["pkg.torch.onnx.class_hierarchy", "['demo.Net', 'demo.Stem', 'torch.nn.BatchNorm2d', 'aten.batch_norm.default']"]]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

// A quantizer took the Relu after a sum into a range, so that the sum has the name of the Relu's value. It is still the sum of
// the linear layer, whose name and bias it has; the activation is a context. A node that reads no parameter is what makes the
// value.

// CHECK-LABEL: func @absorbed_relu
func.func @absorbed_relu(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %b = "t.Constant"() {onnx.initializer, onnx_output_names = ["fc.bias"], value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // CHECK: "onnx.Add"{{.*}}htp.tag = #htp.tag<"fc", evidence = "name", {{.*}}contexts = [#htp.context<"act", evidence = "value-name"
  %0 = "onnx.Add"(%x, %b) {onnx_node_name = "/fc/Add", onnx_output_names = ["/act/Relu_output_0"]} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: "onnx.Add"{{.*}}htp.tag = #htp.tag<"act", evidence = "value-name", {{.*}}contexts = [#htp.context<"fc", evidence = "name"
  %1 = "onnx.Add"(%0, %0) {onnx_node_name = "/fc/Add_1", onnx_output_names = ["/act/Relu_1_output_0"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
