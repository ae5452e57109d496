// RUN: htp-opt %s --htp-strip -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-NOT: htp.
htp.hierarchy @Net : "demo.Net" {
  htp.module @act : "torch.nn.modules.activation.ReLU" torch_nn
}

// CHECK-LABEL: func @tagged
func.func @tagged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "onnx.Relu"(%{{.*}}) {onnx_node_name = "Relu_1"} : (tensor<4xf32>) -> tensor<4xf32> loc("Relu_1")
  %0 = "onnx.Relu"(%x) {onnx_node_name = "Relu_1", htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32>
    loc(fused<{htp.scope = "act"}>["Relu_1"])
  onnx.Return %0 : tensor<4xf32>
}

// What HTP noted on arguments and results goes as well; what others noted there stays.
// CHECK-LABEL: func @noted
// CHECK-SAME: (%{{.*}}: tensor<4xf32> {onnx.name = "w"}
// CHECK-SAME: -> (tensor<4xf32> {onnx.name = "y"})
// CHECK-SAME: attributes {other = 1 : i64} {
func.func @noted(%w: tensor<4xf32> {htp.parameter = "act.weight", htp.users = ["act"], onnx.name = "w"}) -> (tensor<4xf32> {htp.tag = #htp.tag<"act">, onnx.name = "y"}) attributes {htp.module = "act", other = 1} {
  onnx.Return %w : tensor<4xf32>
}

// Scopes go from wherever they are in a location, and the rest of it stays.
// CHECK-LABEL: func @nested
// CHECK: "onnx.Relu"{{.*}} loc(callsite("Relu_1" at fused["a", "b"]))
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    loc(callsite(fused<{htp.call = 2 : i64, htp.scope = "act"}>["Relu_1"] at fused["a", fused<{htp.scope = ""}>["b"]]))
  onnx.Return %0 : tensor<4xf32>
}
// CHECK-NOT: htp.
