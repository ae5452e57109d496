// RUN: not htp-opt %s -o /dev/null --dag-json 2>&1 | FileCheck %s
// RUN: not htp-opt %s -o %t.mlir --op-metadata=%t.d/no/such/folder.json 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: not ls %t.mlir

// CHECK: error: the model has no module tree (htp.hierarchy): tag it first, with --htp-tag
// PATH: folder.json
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  onnx.Return %x : tensor<4xf32>
}
