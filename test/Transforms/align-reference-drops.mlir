// The tree becomes the reference's. What was guessed from names before, and is no module there, goes: tags,
// contexts, and users of parameters, each by itself.
// RUN: htp-opt %s --htp-align-reference=reference=%S/Inputs/reference.mlir | FileCheck %s

// CHECK: htp.hierarchy @Net : "demo.Net"
// CHECK-NOT: guessed
// CHECK: "onnx.Constant"(){{.*}}htp.users = ["second"]
// CHECK-NOT: guessed
// CHECK: "onnx.Sigmoid"{{.*}}#htp.tag<"second", {{.*}}contexts = [#htp.context<"act", evidence = "consumer", confidence = 0.5>]>
// CHECK-NOT: guessed
htp.hierarchy @Guess : "" {
  htp.module @guessed : ""
  htp.module @first : ""
  htp.module @second : ""
  htp.module @act : ""
}
func.func @main_graph(%x: tensor<1x2xf32> {htp.users = ["guessed"]}) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer, htp.users = ["first", "guessed"]} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer, htp.users = ["second"]} : () -> tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w0) {onnx_output_names = ["a"], htp.tag = #htp.tag<"guessed", evidence = "name", confidence = 0.9>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc(fused<{htp.scope = "guessed"}>["m0"])
  %1 = "onnx.Relu"(%0) {onnx_output_names = ["b"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = "onnx.MatMul"(%1, %w1) {onnx_output_names = ["c"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = "onnx.Sigmoid"(%2) {onnx_output_names = ["d"], htp.tag = #htp.tag<"second", evidence = "override", contexts = [#htp.context<"guessed", evidence = "name", confidence = 0.5>, #htp.context<"act", evidence = "consumer", confidence = 0.5>]>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}
