// What there is nothing to extract of, and why.
// RUN: rm -rf %t && split-file %s %t
// RUN: not htp-opt %t/never.mlir --htp-extract=module=list -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not htp-opt %t/function.mlir --htp-extract=module=a 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not htp-opt %t/tree.mlir --htp-extract=module=a -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=TREE

// NEVER: error: {{.*}}module 'list' owns no ops, so there is nothing to extract: its forward never ran
// FUNCTION: error: has no function to extract a module from
// TREE: error: has no module tree (htp.hierarchy): run --htp-tag or --htp-attach-hierarchy first

//--- never.mlir
htp.hierarchy @Net : "demo.Net" {
  htp.module @list : "demo.List" calls 0
}
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.relu"(%x) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- function.mlir
htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.A"
}
func.func private @main_graph(%x: tensor<4xf32>) -> tensor<4xf32>

//--- tree.mlir
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
