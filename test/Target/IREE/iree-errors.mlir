// What cannot be written for IREE is said, and leaves nothing behind.
// RUN: rm -rf %t && split-file %s %t
// RUN: not htp-opt %t/domain.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not htp-opt %t/unknown.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not htp-opt %t/strings.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=STRINGS
// RUN: not htp-opt %t/other.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not htp-opt %t/recursion.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: not htp-opt %t/unranked.mlir --emit=iree -o %t/out 2>&1 | FileCheck %s --check-prefix=UNRANKED
// RUN: not htp-opt %t/other.mlir --emit=iree 2>&1 | FileCheck %s --check-prefix=STDOUT
// RUN: not htp-opt %t/other.mlir --emit=iree -o %t/other.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ls %t/out/model.json

// STDOUT: error: --emit=iree writes a folder: -o FOLDER
// FILE: error: cannot write '{{.*}}other.mlir': is a file, expected a folder

//--- domain.mlir
// DOMAIN: error: 'com.microsoft.FusedMatMul' is not an operator of ONNX itself; IREE imports no others
func.func @main_graph(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "onnx.Custom"(%x, %x) <{function_name = "FusedMatMul"}> {domain_name = "com.microsoft"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.Return %0 : tensor<2x2xf32>
}

//--- unknown.mlir
// UNKNOWN: error: value 'm' has no known type, which IREE needs
func.func @main_graph(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "onnx.Relu"(%x) {onnx_output_names = ["m"]} : (tensor<2x2xf32>) -> none
  %1 = "onnx.Relu"(%0) : (none) -> tensor<2x2xf32>
  onnx.Return %1 : tensor<2x2xf32>
}

//--- strings.mlir
// STRINGS: error: value 'x' has type 'tensor<2x!onnx.String>', which IREE does not support
func.func @main_graph(%x: tensor<2x!onnx.String> {onnx.name = "x"}) -> tensor<2x!onnx.String> {
  onnx.Return %x : tensor<2x!onnx.String>
}

//--- other.mlir
// OTHER: error: 'math.exp' is not an ONNX operator; IREE imports no others
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.exp %x : tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- recursion.mlir
// RECURSION: error: calls itself, which IREE cannot compile
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @Layer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}
func.func private @Layer(%x: tensor<2xf32>) -> tensor<2xf32> attributes {htp.module = "layer"} {
  %0 = call @Layer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

//--- unranked.mlir
// UNRANKED: error: value 'm' has type 'tensor<*xf32>'; between files of IREE the number of dimensions must be known
func.func @main_graph(%x: tensor<2xf32>) -> tensor<*xf32> {
  %0 = "onnx.Relu"(%x) {onnx_output_names = ["m"]} : (tensor<2xf32>) -> tensor<*xf32>
  %1 = call @Layer(%0) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %1 : tensor<*xf32>
}
func.func private @Layer(%x: tensor<*xf32>) -> tensor<*xf32> attributes {htp.module = "layer"} {
  %0 = "onnx.Relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}
