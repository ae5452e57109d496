// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy --htp-propagate-aux-tags -o %t.mlir \
// RUN:   --remarks-filter-analyse=htp-ground --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy --htp-propagate-aux-tags -o %t.mlir \
// RUN:   --remarks-filter-analyse=htp-ground --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml

// Who asks is told on what ground each node got its tag: that is what `make fit` counts. The file is whole.

// CHECK: remark: [Analysis] parameter-name | Category:htp-ground | {{.*}}value=h
// CHECK: remark: [Analysis] name | Category:htp-ground | {{.*}}value=y
// CHECK: remark: [Analysis] read-by-one | Category:htp-ground | {{.*}}value=s

// YAML: Name: {{ *}}parameter-name
// YAML: - value: {{ *}}h
// YAML: Name: {{ *}}read-by-one
// YAML: - value: {{ *}}s
// YAML-NEXT: ...

func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["fc.weight"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "t.Sqrt"(%x) {onnx_output_names = ["s"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %h = "t.MatMul"(%s, %w) {onnx_output_names = ["h"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "t.Relu"(%h) {onnx_node_name = "/act/Relu", onnx_output_names = ["y"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
