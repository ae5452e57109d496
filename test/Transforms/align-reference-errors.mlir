// RUN: not htp-opt %s --htp-align-reference=reference=%s 2>&1 | FileCheck %s --check-prefix=UNTAGGED
// RUN: not htp-opt %s --htp-align-reference=reference=%S/Inputs/reference.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: htp-opt %s --htp-align-reference="reference=%S/Inputs/reference.mlir force" 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: not htp-opt %s --htp-align-reference=reference=%t.missing 2>&1 | FileCheck %s --check-prefix=MISSING

// UNTAGGED: has no tags: tag it first, with --htp-tag
// OTHER: is of another model: 0 of its {{[0-9]+}} parameters are in the model
// OTHER: note: the option force turns this into a warning
// FORCED: warning: {{.*}} is of another model
// MISSING: cannot read

func.func @main_graph(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = "onnx.Constant"() {value = dense<[[9.0, 9.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
