// Products in forms that say little of themselves, and what is not counted rather than guessed.
// RUN: htp-opt %s --op-figures=- -o= | %python -m json.tool --indent 1 | FileCheck %s

htp.hierarchy @Net : "net.Net" {}
func.func @main_graph(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %m: tensor<3x4xf32>, %v: tensor<4xf32>, %image: tensor<1x3x7x7xui8>, %kernel: tensor<8x3x3x3xui8>, %scale: tensor<f32>, %zero: tensor<ui8>, %x: tensor<5x7xui8>, %w: tensor<7x11xui8>, %packed: tensor<1x16x128xf32>, %blocks: tensor<256x4x16xui8>) {
  // Letters that no result keeps are summed over: 3 * 4, once.
  // CHECK: "sum": {
  // CHECK-NEXT: "multiply_adds": 12,
  %0 = "onnx.Einsum"(%m, %v) {equation = "ij,j->i", onnx_node_name = "sum", htp.tag = #htp.tag<"">} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
  // Three operands are two products, as if they were taken one after the other for every element:
  // 2 * (2 * 3 * 4 * 5).
  // CHECK: "three": {
  // CHECK-NEXT: "multiply_adds": 240,
  %1 = "onnx.Einsum"(%a, %b, %v) {equation = "bij, bjk, j -> bik", onnx_node_name = "three", htp.tag = #htp.tag<"">} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>, tensor<4xf32>) -> tensor<2x3x5xf32>
  // One operand is only moved.
  // CHECK: "transposed": {
  // CHECK-NEXT: "multiply_adds": 0,
  %2 = "onnx.Einsum"(%m) {equation = "ij->ji", onnx_node_name = "transposed", htp.tag = #htp.tag<"">} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK: "dots": {
  // CHECK-NEXT: "multiply_adds": null,
  %3 = "onnx.Einsum"(%a, %b) {equation = "...ij,...jk->...ik", onnx_node_name = "dots", htp.tag = #htp.tag<"">} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // An equation that does not fit its operands.
  // CHECK: "misfit": {
  // CHECK-NEXT: "multiply_adds": null,
  %4 = "onnx.Einsum"(%a, %b) {equation = "ij,jk->ik", onnx_node_name = "misfit", htp.tag = #htp.tag<"">} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>

  // The weight of a quantized convolution is its fourth input: 8 * 5 * 5 * (3 * 3 * 3).
  // CHECK: "quantizedConv": {
  // CHECK-NEXT: "multiply_adds": 5400,
  %5 = "onnx.QLinearConv"(%image, %scale, %zero, %kernel, %scale, %zero, %scale, %zero) {onnx_node_name = "quantizedConv", htp.tag = #htp.tag<"">} : (tensor<1x3x7x7xui8>, tensor<f32>, tensor<ui8>, tensor<8x3x3x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x5x5xui8>
  // CHECK: "quantizedProduct": {
  // CHECK-NEXT: "multiply_adds": 385,
  %6 = "onnx.QLinearMatMul"(%x, %scale, %zero, %w, %scale, %zero, %scale, %zero) {onnx_node_name = "quantizedProduct", htp.tag = #htp.tag<"">} : (tensor<5x7xui8>, tensor<f32>, tensor<ui8>, tensor<7x11xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<5x11xui8>
  // CHECK: "integers": {
  // CHECK-NEXT: "multiply_adds": 385,
  %7 = "onnx.MatMulInteger"(%x, %w) {onnx_node_name = "integers", htp.tag = #htp.tag<"">} : (tensor<5x7xui8>, tensor<7x11xui8>) -> tensor<5x11xi32>
  // The shape of a packed weight says nothing; without K the product is not known.
  // CHECK: "noK": {
  // CHECK-NEXT: "multiply_adds": null,
  %8 = "onnx.Custom"(%packed, %blocks) {domain_name = "com.microsoft", function_name = "MatMulNBits", N = 256 : si64, bits = 4 : si64, onnx_node_name = "noK", htp.tag = #htp.tag<"">} : (tensor<1x16x128xf32>, tensor<256x4x16xui8>) -> tensor<1x16x256xf32>

  // Operators of ONNX that are in no table only move or map elements; those of ONNX Runtime might do
  // anything.
  // CHECK: "unique": {
  // CHECK-NEXT: "multiply_adds": 0,
  %9 = "onnx.Custom"(%v) {domain_name = "com.microsoft", function_name = "Unique", onnx_node_name = "unique", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "nhwc": {
  // CHECK-NEXT: "multiply_adds": null,
  %10 = "onnx.Custom"(%v) {domain_name = "com.ms.internal.nhwc", function_name = "GridSample", onnx_node_name = "nhwc", htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return
}
