// What attention and recurrent layers cost, in all the forms in which files have them, by hand.
// RUN: htp-opt %s --op-figures=- -o= | %python -m json.tool --indent 1 | FileCheck %s

htp.hierarchy @Net : "net.Net" {}
func.func @main_graph(%q: tensor<1x4x16xf32>, %kv: tensor<1x9x8xf32>, %past: tensor<1x2x6x4xf32>, %q4: tensor<1x2x4x8xf32>, %k4: tensor<1x2x9x8xf32>, %past4: tensor<1x2x6x8xf32>, %weight: tensor<16x40xf32>, %bias: tensor<40xf32>, %x: tensor<3x2x7xf32>, %w3: tensor<2x15x7xf32>, %r3: tensor<2x15x5xf32>, %w1: tensor<1x5x7xf32>, %r1: tensor<1x5x5xf32>) {
  // Queries of 4 heads of 4, keys and values of 2 heads of 4: both products have all 4 heads, so that the
  // values, too, are 16 wide. 4 queries, 9 keys: 4 * 9 * (16 + 16).
  // CHECK: "grouped": {
  // CHECK-NEXT: "multiply_adds": 1152,
  %0 = "onnx.Attention"(%q, %kv, %kv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64, onnx_node_name = "grouped", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x9x8xf32>, tensor<1x9x8xf32>) -> tensor<1x4x16xf32>
  // 6 keys of the cache come on top: 4 * 15 * 32.
  // CHECK: "cached": {
  // CHECK-NEXT: "multiply_adds": 1920,
  %n = "onnx.NoValue"() {value} : () -> none
  %1 = "onnx.Attention"(%q, %kv, %kv, %n, %past, %past) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64, onnx_node_name = "cached", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x9x8xf32>, tensor<1x9x8xf32>, none, tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) -> tensor<1x4x16xf32>
  // By heads already: 2 * 4 * 15 * (8 + 8).
  // CHECK: "byHeads": {
  // CHECK-NEXT: "multiply_adds": 1920,
  %2 = "onnx.Attention"(%q4, %k4, %k4, %n, %past4, %past4) {onnx_node_name = "byHeads", htp.tag = #htp.tag<"">} : (tensor<1x2x4x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, none, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32>
  // Of keys and values in three dimensions the number of heads must be told.
  // CHECK: "headsUnknown": {
  // CHECK-NEXT: "multiply_adds": null,
  %3 = "onnx.Attention"(%q, %kv, %kv) {onnx_node_name = "headsUnknown", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x9x8xf32>, tensor<1x9x8xf32>) -> tensor<1x4x16xf32>

  // ONNX Runtime: keys by heads, with 6 of a cache: 4 * 15 * (16 + 16).
  // CHECK: "runtimeByHeads": {
  // CHECK-NEXT: "multiply_adds": 1920,
  %4 = "onnx.Custom"(%q, %k4, %k4, %n, %n, %n, %past4, %past4) {domain_name = "com.microsoft", function_name = "MultiHeadAttention", num_heads = 2 : si64, onnx_node_name = "runtimeByHeads", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, none, none, none, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x4x16xf32>
  // Queries, keys and values packed into one tensor, whose widths nobody states.
  // CHECK: "runtimePacked": {
  // CHECK-NEXT: "multiply_adds": null,
  %5 = "onnx.Custom"(%q4) {domain_name = "com.microsoft", function_name = "MultiHeadAttention", num_heads = 2 : si64, onnx_node_name = "runtimePacked", htp.tag = #htp.tag<"">} : (tensor<1x2x4x8xf32>) -> tensor<1x4x16xf32>

  // The projection and the products at once, with values narrower than keys: 4 * 16 * 40 for the
  // projection, 4 * 4 * (16 + 8) for the products.
  // CHECK: "projected": {
  // CHECK-NEXT: "multiply_adds": 2944,
  %6 = "onnx.Custom"(%q, %weight, %bias) {domain_name = "com.microsoft", function_name = "Attention", num_heads = 2 : si64, qkv_hidden_sizes = [16 : si64, 16 : si64, 8 : si64], onnx_node_name = "projected", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<16x40xf32>, tensor<40xf32>) -> tensor<1x4x8xf32>
  // How much of a cache is filled is not in the file.
  // CHECK: "projectedCached": {
  // CHECK-NEXT: "multiply_adds": null,
  %7 = "onnx.Custom"(%q, %weight, %bias, %n, %past) {domain_name = "com.microsoft", function_name = "Attention", num_heads = 2 : si64, onnx_node_name = "projectedCached", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<16x40xf32>, tensor<40xf32>, none, tensor<1x2x6x4xf32>) -> tensor<1x4x8xf32>
  // Without its second result, GroupQueryAttention does not say how many keys there are.
  // CHECK: "keysUnknown": {
  // CHECK-NEXT: "multiply_adds": null,
  %8 = "onnx.Custom"(%q, %kv, %kv) {domain_name = "com.microsoft", function_name = "GroupQueryAttention", num_heads = 4 : si64, kv_num_heads = 2 : si64, onnx_node_name = "keysUnknown", htp.tag = #htp.tag<"">} : (tensor<1x4x16xf32>, tensor<1x9x8xf32>, tensor<1x9x8xf32>) -> tensor<1x4x16xf32>

  // 3 steps, batch 2, both directions, 3 gates of 5, from 7 inputs and 5 of the step before.
  // CHECK: "gru": {
  // CHECK-NEXT: "multiply_adds": 2160,
  %9 = "onnx.GRU"(%x, %w3, %r3) {onnx_node_name = "gru", htp.tag = #htp.tag<"">} : (tensor<3x2x7xf32>, tensor<2x15x7xf32>, tensor<2x15x5xf32>) -> tensor<3x2x2x5xf32>
  // CHECK: "rnn": {
  // CHECK-NEXT: "multiply_adds": 360,
  %10 = "onnx.RNN"(%x, %w1, %r1) {onnx_node_name = "rnn", htp.tag = #htp.tag<"">} : (tensor<3x2x7xf32>, tensor<1x5x7xf32>, tensor<1x5x5xf32>) -> tensor<3x1x2x5xf32>
  onnx.Return
}
