// RUN: htp-opt %s --emit=onnx-mlir 2>%t.err | FileCheck %s && FileCheck %s --check-prefix=ERR < %t.err

// What onnx-mlir's verifiers ask for beyond the schemas.

// ERR: warning: becomes onnx.Custom, which takes no '!onnx.Seq<tensor<2xf32>>' in onnx-mlir: the operand is left out
// CHECK-LABEL: func.func @main_graph
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{version = 24 : si64}]} {
  func.func @main_graph(%x: tensor<2x3xf32> {onnx.name = "x"}, %i: tensor<2x3xi32> {onnx.name = "i"}, %seq: !onnx.Seq<tensor<2xf32>> {onnx.name = "seq"}, %opt: !onnx.Opt<tensor<2xf32>> {onnx.name = "opt"}, %image: tensor<1x1x?x?xf32> {onnx.name = "image"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
    // Its verifiers read the values of constants, which a resource does not let them; equal elements are written once.
    // CHECK: onnx.Constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    // CHECK: onnx.Constant dense<1.000000e+00> : tensor<3xf32>
    // CHECK: onnx.Constant dense<[true, false, true]> : tensor<3xi1>
    // CHECK: onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>
    %pads = "onnx.Constant"() {value = dense_resource<pads> : tensor<4xi64>} : () -> tensor<4xi64>
    %ones = "onnx.Constant"() {value = dense_resource<ones> : tensor<3xf32>} : () -> tensor<3xf32>
    %bools = "onnx.Constant"() {value = dense_resource<bools> : tensor<3xi1>} : () -> tensor<3xi1>
    %short = "onnx.Constant"() {value = dense_resource<short> : tensor<2xbf16>} : () -> tensor<2xbf16>
    %none = "onnx.NoValue"() <{value}> : () -> none
    // Padding of some axes only.
    // CHECK: "onnx.Pad"(
    %0 = "onnx.Pad"(%x, %pads) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "Pad"}>
    %1 = "onnx.Pad"(%x, %pads, %none, %pads) : (tensor<2x3xf32>, tensor<4xi64>, none, tensor<4xi64>) -> tensor<?x?xf32>
    // The remainder of integers for floats, and the other way round.
    // CHECK: "onnx.Mod"({{.*}}) <{fmod = 1 : si64}>
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "Mod"}>
    // CHECK: "onnx.Mod"(
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "Mod"}>
    %2 = "onnx.Mod"(%x, %x) {fmod = 1 : si64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "onnx.Mod"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = "onnx.Mod"(%i, %i) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %5 = "onnx.Mod"(%i, %i) {fmod = 1 : si64} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    // A part of a shape that ends before it starts.
    // CHECK: "onnx.Shape"({{.*}}) <{end = -1 : si64, start = 0 : si64}>
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "Shape"}>
    %6 = "onnx.Shape"(%x) {start = 0 : si64, end = -1 : si64} : (tensor<2x3xf32>) -> tensor<1xi64>
    %7 = "onnx.Shape"(%x) {start = 2 : si64, end = 1 : si64} : (tensor<2x3xf32>) -> tensor<0xi64>
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "IsInf"}>
    %8 = "onnx.IsInf"(%x) {detect_negative = 0 : si64, detect_positive = 0 : si64} : (tensor<2x3xf32>) -> tensor<2x3xi1>
    // Pads that only the run of the model tells.
    // CHECK: "onnx.Custom"({{.*}}) <{function_name = "ConvTranspose"}>
    %kernel = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
    %9 = "onnx.ConvTranspose"(%image, %kernel) {output_shape = [10, 8]} : (tensor<1x1x?x?xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x10x8xf32>
    // What is not optional has an element, and is it.
    // CHECK: "onnx.OptionalHasElement"({{.*}}) : (!onnx.Opt<tensor<2xf32>>) -> tensor<i1>
    // CHECK-NOT: Optional
    // CHECK: onnx.Constant dense<true> : tensor<i1>
    // CHECK: onnx.Constant dense<false> : tensor<i1>
    // CHECK: "onnx.Relu"(%arg0)
    %10 = "onnx.OptionalHasElement"(%opt) : (!onnx.Opt<tensor<2xf32>>) -> tensor<i1>
    %11 = "onnx.OptionalHasElement"(%x) : (tensor<2x3xf32>) -> tensor<i1>
    %12 = "onnx.OptionalHasElement"() : () -> tensor<i1>
    %13 = "onnx.OptionalGetElement"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %14 = "onnx.Relu"(%13) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // onnx.Custom takes and makes tensors only.
    // CHECK: %[[NONE:.*]] = "onnx.NoValue"()
    // CHECK: "onnx.Custom"(%{{.*}}, %[[NONE]]) <{function_name = "Unheard"}> : (tensor<2x3xf32>, none) -> (none, tensor<2x3xf32>)
    %15, %16 = "onnx.Unheard"(%14, %seq) : (tensor<2x3xf32>, !onnx.Seq<tensor<2xf32>>) -> (!onnx.Seq<tensor<2xf32>>, tensor<2x3xf32>)
    // A newer operator of which onnx-mlir has one version.
    // CHECK: "onnx.Attention"(
    %q = "onnx.Constant"() {value = dense<1.0> : tensor<1x2x4x8xf32>} : () -> tensor<1x2x4x8xf32>
    %17 = "onnx.Attention"(%q, %q, %q) : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    onnx.Return %16 : tensor<2x3xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}

{-#
  dialect_resources: {
    builtin: {
      pads: "0x080000000100000000000000020000000000000003000000000000000400000000000000",
      ones: "0x040000000000803F0000803F0000803F",
      bools: "0x01000000010001",
      short: "0x02000000803F0040"
    }
  }
#-}
