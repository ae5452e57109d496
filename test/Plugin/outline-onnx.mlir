// "onnx.…" ops in a stock mlir-opt, with the dialect that the plugin brings.
// Functions end as the graph ends.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline)' -allow-unregistered-dialect | FileCheck %s
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-extract{module=block.1})' -allow-unregistered-dialect | FileCheck %s --check-prefix=EXTRACT
// RUN: mlir-opt %s %load_htp -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope -o %t.flat
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline,htp-inline)' -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope -o %t.inlined
// RUN: diff %t.flat %t.inlined

htp.hierarchy @Net : "demo.Net" {
  htp.module @block.0 : "demo.Block"
  htp.module @block.1 : "demo.Block"
}

// CHECK-LABEL: func.func @main_graph
// CHECK: call @Block(
// CHECK: call @Block(
// CHECK: onnx.Return
// EXTRACT: func.func @main_graph(%arg0: tensor<4xf32> {onnx.name = "b"}) -> (tensor<4xf32> {onnx.name = "d"})
// EXTRACT-NEXT: "onnx.NoValue"
// EXTRACT-NEXT: "onnx.Clip"
// EXTRACT-NEXT: "onnx.Relu"
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "d"}) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Clip"(%x, %none, %none) {onnx_output_names = ["a"], htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>, none, none) -> tensor<4xf32>
  %1 = "onnx.Relu"(%0) {onnx_output_names = ["b"], htp.tag = #htp.tag<"block.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Clip"(%1, %none, %none) {onnx_output_names = ["c"], htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>, none, none) -> tensor<4xf32>
  %3 = "onnx.Relu"(%2) {onnx_output_names = ["d"], htp.tag = #htp.tag<"block.1">} : (tensor<4xf32>) -> tensor<4xf32>
  "onnx.Return"(%3) : (tensor<4xf32>) -> ()
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()

// A value that is not there is no operand.
// CHECK: func.func private @Block(%[[X:.*]]: tensor<4xf32> {onnx.name = "x"})
// CHECK-NEXT: %[[NONE:.*]] = "onnx.NoValue"() <{value}> {htp.copy = 0 : i64}
// CHECK-NEXT: "onnx.Clip"(%[[X]], %[[NONE]], %[[NONE]])
// CHECK: onnx.Return
