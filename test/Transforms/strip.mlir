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
// CHECK-NOT: htp.
