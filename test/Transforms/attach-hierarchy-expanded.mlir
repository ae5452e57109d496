// RUN: htp-opt %s -allow-unregistered-dialect --htp-attach-hierarchy=trace=%S/Inputs/expanded.trace.json -split-input-file | FileCheck %s

// The traced op that reads the parameter only passes it on, and left no node:
// what reads the parameter now is the op after it.

// CHECK-LABEL: func @dropped
func.func @dropped(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %q = "t.Constant"() {onnx.initializer, onnx_output_names = ["queries"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.Add"{{.*}}htp.tag = #htp.tag<"join", evidence = "parameter"
  %0 = "t.Add"(%q, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func @left
func.func @left(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %q = "t.Constant"() {onnx.initializer, onnx_output_names = ["queries"], value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "t.Expand"{{.*}}htp.tag = #htp.tag<"", evidence = "parameter"
  %0 = "t.Expand"(%q) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
