// What each operator costs, by hand, and the bytes of what it makes.
// RUN: htp-opt %s --op-figures=- -o= | %python -m json.tool --indent 1 | FileCheck %s

// CHECK: "format": "htp-op-figures"
htp.hierarchy @Net : "net.Net" {}
func.func @main_graph(%a0: tensor<1x3x7x7xf32> {onnx.name = "a0"}, %a1: tensor<8x3x3x3xf32> {onnx.name = "a1"}, %a2: tensor<2x8x4x4xf32> {onnx.name = "a2"}, %a3: tensor<8x1x3x3xf32> {onnx.name = "a3"}, %a4: tensor<1x4x5x5xf32> {onnx.name = "a4"}, %a5: tensor<4x6x2x2xf32> {onnx.name = "a5"}, %a6: tensor<5x7xf32> {onnx.name = "a6"}, %a7: tensor<7x11xf32> {onnx.name = "a7"}, %a8: tensor<7x5xf32> {onnx.name = "a8"}, %a9: tensor<11x7xf32> {onnx.name = "a9"}, %a10: tensor<2x3x4x5xf32> {onnx.name = "a10"}, %a11: tensor<5x6xf32> {onnx.name = "a11"}, %a12: tensor<5xf32> {onnx.name = "a12"}, %a13: tensor<5x4xf32> {onnx.name = "a13"}, %a14: tensor<1x16x128xf32> {onnx.name = "a14"}, %a15: tensor<256x4x16xui8> {onnx.name = "a15"}, %a16: tensor<1x2x4x8xf32> {onnx.name = "a16"}, %a17: tensor<1x2x9x8xf32> {onnx.name = "a17"}, %a18: tensor<1x4x16xf32> {onnx.name = "a18"}, %a19: tensor<1x9x16xf32> {onnx.name = "a19"}, %a20: tensor<16x48xf32> {onnx.name = "a20"}, %a21: tensor<48xf32> {onnx.name = "a21"}, %a22: tensor<1x1x32xf32> {onnx.name = "a22"}, %a23: tensor<1x1x16xf32> {onnx.name = "a23"}, %a24: tensor<3x2x7xf32> {onnx.name = "a24"}, %a25: tensor<1x20x7xf32> {onnx.name = "a25"}, %a26: tensor<1x20x5xf32> {onnx.name = "a26"}, %a27: tensor<2x3x4xf32> {onnx.name = "a27"}, %a28: tensor<2x4x5xf32> {onnx.name = "a28"}, %a29: tensor<2x3xf32> {onnx.name = "a29"}, %a30: tensor<?x5xf32> {onnx.name = "a30"}, %a31: tensor<*xf32> {onnx.name = "a31"}, %a32: tensor<4611686018427387904x4xf32> {onnx.name = "a32"}, %a33: tensor<4x4xf32> {onnx.name = "a33"}, %a34: tensor<3x3xf32> {onnx.name = "a34"}, %a35: tensor<3x3xbf16> {onnx.name = "a35"}, %a36: tensor<3x3xf8E4M3FN> {onnx.name = "a36"}, %a37: tensor<3x3xi1> {onnx.name = "a37"}, %a38: tensor<3x3xui4> {onnx.name = "a38"}, %a39: tensor<3x3xcomplex<f32>> {onnx.name = "a39"}, %a40: tensor<3x3x!onnx.String> {onnx.name = "a40"}) {
  // 8 output channels of 5 x 5, each a sum over 3 channels of 3 x 3.
  // CHECK: "n0": {
  // CHECK-NEXT: "multiply_adds": 5400,
  %n0 = "onnx.Conv"(%a0, %a1) {onnx_node_name = "n0", onnx_output_names = ["n0.0"], htp.tag = #htp.tag<"">} : (tensor<1x3x7x7xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x5x5xf32>
  // Depthwise: one channel in each group.
  // CHECK: "n1": {
  // CHECK-NEXT: "multiply_adds": 2304,
  %n1 = "onnx.Conv"(%a2, %a3) {group = 8 : si64, onnx_node_name = "n1", onnx_output_names = ["n1.0"], htp.tag = #htp.tag<"">} : (tensor<2x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x4x4xf32>
  // CHECK: "n2": {
  // CHECK-NEXT: "multiply_adds": 2400,
  %n2 = "onnx.ConvTranspose"(%a4, %a5) {onnx_node_name = "n2", onnx_output_names = ["n2.0"], htp.tag = #htp.tag<"">} : (tensor<1x4x5x5xf32>, tensor<4x6x2x2xf32>) -> tensor<1x6x10x10xf32>
  // CHECK: "n3": {
  // CHECK-NEXT: "multiply_adds": 385,
  %n3 = "onnx.Gemm"(%a6, %a7) {onnx_node_name = "n3", onnx_output_names = ["n3.0"], htp.tag = #htp.tag<"">} : (tensor<5x7xf32>, tensor<7x11xf32>) -> tensor<5x11xf32>
  // CHECK: "n4": {
  // CHECK-NEXT: "multiply_adds": 385,
  %n4 = "onnx.Gemm"(%a8, %a9) {transA = 1 : si64, transB = 1 : si64, onnx_node_name = "n4", onnx_output_names = ["n4.0"], htp.tag = #htp.tag<"">} : (tensor<7x5xf32>, tensor<11x7xf32>) -> tensor<5x11xf32>
  // CHECK: "n5": {
  // CHECK-NEXT: "multiply_adds": 720,
  %n5 = "onnx.MatMul"(%a10, %a11) {onnx_node_name = "n5", onnx_output_names = ["n5.0"], htp.tag = #htp.tag<"">} : (tensor<2x3x4x5xf32>, tensor<5x6xf32>) -> tensor<2x3x4x6xf32>
  // CHECK: "n6": {
  // CHECK-NEXT: "multiply_adds": 5,
  %n6 = "onnx.MatMul"(%a12, %a12) {onnx_node_name = "n6", onnx_output_names = ["n6.0"], htp.tag = #htp.tag<"">} : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  // CHECK: "n7": {
  // CHECK-NEXT: "multiply_adds": 120,
  %n7 = "onnx.Custom"(%a13, %a11) {domain_name = "com.microsoft", function_name = "FusedMatMul", transA = 1 : si64, onnx_node_name = "n7", onnx_output_names = ["n7.0"], htp.tag = #htp.tag<"">} : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  // CHECK: "n8": {
  // CHECK-NEXT: "multiply_adds": 524288,
  %n8 = "onnx.Custom"(%a14, %a15) {domain_name = "com.microsoft", function_name = "MatMulNBits", K = 128 : si64, N = 256 : si64, bits = 4 : si64, onnx_node_name = "n8", onnx_output_names = ["n8.0"], htp.tag = #htp.tag<"">} : (tensor<1x16x128xf32>, tensor<256x4x16xui8>) -> tensor<1x16x256xf32>
  // Queries with 9 keys and weights with 9 values, for 4 queries, 2 heads of 8.
  // CHECK: "n9": {
  // CHECK-NEXT: "multiply_adds": 1152,
  %n9 = "onnx.Attention"(%a16, %a17, %a17) {onnx_node_name = "n9", onnx_output_names = ["n9.0"], htp.tag = #htp.tag<"">} : (tensor<1x2x4x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>) -> tensor<f32>
  // CHECK: "n10": {
  // CHECK-NEXT: "multiply_adds": 1152,
  %n10 = "onnx.Custom"(%a18, %a19, %a19) {domain_name = "com.microsoft", function_name = "MultiHeadAttention", num_heads = 2 : si64, onnx_node_name = "n10", onnx_output_names = ["n10.0"], htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x4x16xf32>
  // The projection to 3 x 16, then both products of 4 x 4 for a width of 16.
  // CHECK: "n11": {
  // CHECK-NEXT: "multiply_adds": 3584,
  %n11 = "onnx.Custom"(%a18, %a20, %a21) {domain_name = "com.microsoft", function_name = "Attention", num_heads = 2 : si64, onnx_node_name = "n11", onnx_output_names = ["n11.0"], htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<16x48xf32>, tensor<48xf32>) -> tensor<1x4x16xf32>
  // One new token, 10 keys after it, 4 heads of 8 that share 2 of keys.
  // CHECK: "n12": {
  // CHECK-NEXT: "multiply_adds": 640,
  %n12:3 = "onnx.Custom"(%a22, %a23, %a23) {domain_name = "com.microsoft", function_name = "GroupQueryAttention", num_heads = 4 : si64, kv_num_heads = 2 : si64, onnx_node_name = "n12", onnx_output_names = ["n12.0", "n12.1", "n12.2"], htp.tag = #htp.tag<"">} : (tensor<1x1x32xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>) -> (tensor<1x1x32xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
  // 3 steps, batch 2, 4 gates of 5, from 7 inputs and 5 of the step before.
  // CHECK: "n13": {
  // CHECK-NEXT: "multiply_adds": 1440,
  %n13 = "onnx.LSTM"(%a24, %a25, %a26) {onnx_node_name = "n13", onnx_output_names = ["n13.0"], htp.tag = #htp.tag<"">} : (tensor<3x2x7xf32>, tensor<1x20x7xf32>, tensor<1x20x5xf32>) -> tensor<3x1x2x5xf32>
  // CHECK: "n14": {
  // CHECK-NEXT: "multiply_adds": 120,
  %n14 = "onnx.Einsum"(%a27, %a28) {equation = "bij,bjk->bik", onnx_node_name = "n14", onnx_output_names = ["n14.0"], htp.tag = #htp.tag<"">} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: "n15": {
  // CHECK-NEXT: "multiply_adds": 0,
  %n15 = "onnx.Softmax"(%a29) {onnx_node_name = "n15", onnx_output_names = ["n15.0"], htp.tag = #htp.tag<"">} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: "n16": {
  // CHECK-NEXT: "multiply_adds": 0,
  %n16 = "onnx.Custom"(%a29) {domain_name = "com.microsoft", function_name = "FastGelu", onnx_node_name = "n16", onnx_output_names = ["n16.0"], htp.tag = #htp.tag<"">} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // What is not known stays unknown.
  // CHECK: "n17": {
  // CHECK-NEXT: "multiply_adds": null,
  %n17 = "onnx.MatMul"(%a30, %a11) {onnx_node_name = "n17", onnx_output_names = ["n17.0"], htp.tag = #htp.tag<"">} : (tensor<?x5xf32>, tensor<5x6xf32>) -> tensor<?x6xf32>
  // CHECK: "n18": {
  // CHECK-NEXT: "multiply_adds": null,
  %n18 = "onnx.MatMul"(%a31, %a11) {onnx_node_name = "n18", onnx_output_names = ["n18.0"], htp.tag = #htp.tag<"">} : (tensor<*xf32>, tensor<5x6xf32>) -> tensor<*xf32>
  // CHECK: "n19": {
  // CHECK-NEXT: "multiply_adds": null,
  %n19 = "onnx.Conv"(%a0, %a31) {onnx_node_name = "n19", onnx_output_names = ["n19.0"], htp.tag = #htp.tag<"">} : (tensor<1x3x7x7xf32>, tensor<*xf32>) -> tensor<1x8x5x5xf32>
  // CHECK: "n20": {
  // CHECK-NEXT: "multiply_adds": null,
  %n20 = "onnx.Custom"(%a29) {domain_name = "my.own", function_name = "MatMul", onnx_node_name = "n20", onnx_output_names = ["n20.0"], htp.tag = #htp.tag<"">} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: "n21": {
  // CHECK-NEXT: "multiply_adds": null,
  %n21 = "onnx.Custom"(%a29) {domain_name = "com.microsoft", function_name = "Mystery", onnx_node_name = "n21", onnx_output_names = ["n21.0"], htp.tag = #htp.tag<"">} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // Nor is what no number can hold.
  // CHECK: "n22": {
  // CHECK-NEXT: "multiply_adds": null,
  %n22 = "onnx.MatMul"(%a32, %a33) {onnx_node_name = "n22", onnx_output_names = ["n22.0"], htp.tag = #htp.tag<"">} : (tensor<4611686018427387904x4xf32>, tensor<4x4xf32>) -> tensor<4611686018427387904x4xf32>
  // Whole bytes for an element, two of 4 bits in one; of texts nobody knows.
  // CHECK: "b0": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 36,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "f32[3,3]"
  %b0 = "onnx.Identity"(%a34) {onnx_node_name = "b0", onnx_output_names = ["b0"], htp.tag = #htp.tag<"">} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK: "b1": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 18,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "bf16[3,3]"
  %b1 = "onnx.Identity"(%a35) {onnx_node_name = "b1", onnx_output_names = ["b1"], htp.tag = #htp.tag<"">} : (tensor<3x3xbf16>) -> tensor<3x3xbf16>
  // CHECK: "b2": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 9,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "f8E4M3FN[3,3]"
  %b2 = "onnx.Identity"(%a36) {onnx_node_name = "b2", onnx_output_names = ["b2"], htp.tag = #htp.tag<"">} : (tensor<3x3xf8E4M3FN>) -> tensor<3x3xf8E4M3FN>
  // CHECK: "b3": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 9,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "i1[3,3]"
  %b3 = "onnx.Identity"(%a37) {onnx_node_name = "b3", onnx_output_names = ["b3"], htp.tag = #htp.tag<"">} : (tensor<3x3xi1>) -> tensor<3x3xi1>
  // CHECK: "b4": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 5,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "ui4[3,3]"
  %b4 = "onnx.Identity"(%a38) {onnx_node_name = "b4", onnx_output_names = ["b4"], htp.tag = #htp.tag<"">} : (tensor<3x3xui4>) -> tensor<3x3xui4>
  // CHECK: "b5": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": 72,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "complex<f32>[3,3]"
  %b5 = "onnx.Identity"(%a39) {onnx_node_name = "b5", onnx_output_names = ["b5"], htp.tag = #htp.tag<"">} : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  // CHECK: "b6": {
  // CHECK-NEXT: "multiply_adds": 0,
  // CHECK-NEXT: "activation_bytes": null,
  // CHECK-NEXT: "types": [
  // CHECK-NEXT: "!onnx.String[3,3]"
  %b6 = "onnx.Identity"(%a40) {onnx_node_name = "b6", onnx_output_names = ["b6"], htp.tag = #htp.tag<"">} : (tensor<3x3x!onnx.String>) -> tensor<3x3x!onnx.String>
  onnx.Return
}
