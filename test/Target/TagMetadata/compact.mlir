// RUN: htp-opt %s --htp-tag -o %t.metadata.onnx
// RUN: htp-opt %s --htp-tag --tag-storage=compact -o %t.compact.onnx
// RUN: htp-opt %t.metadata.onnx -mlir-print-debuginfo -o %t.metadata.mlir
// RUN: htp-opt %t.compact.onnx -mlir-print-debuginfo -o %t.compact.mlir
// RUN: diff %t.metadata.mlir %t.compact.mlir
// RUN: %python -c "import onnx, sys; m = onnx.load(sys.argv[1]); print([[(p.key, p.value) for p in n.metadata_props] for n in m.graph.node])" %t.compact.onnx | FileCheck %s

// HTP's own keys alone, modules by their number in the tree: what is read back is the same.

// CHECK-NOT: namespace
// CHECK-NOT: htp.tag
// CHECK: ('htp.id', '2'), ('htp.evidence', 'name'), ('htp.confidence'
// CHECK-NOT: htp.added

func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "onnx.Constant"() {onnx.initializer, onnx_output_names = ["block.fc.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %h = "onnx.MatMul"(%x, %w) {onnx_node_name = "/block/fc/MatMul", onnx_output_names = ["h"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "onnx.Relu"(%h) {onnx_node_name = "/block/act/Relu", onnx_output_names = ["y"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
