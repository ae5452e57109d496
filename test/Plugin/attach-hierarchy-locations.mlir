// --htp-attach-hierarchy=from=locations in a stock mlir-opt: after passes that
// have never heard of HTP, and that drop its attributes, each op of linalg, tosa
// and "onnx" still names its module.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-attach-hierarchy{from=locations})' -split-input-file -allow-unregistered-dialect | FileCheck %s
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(func.func(tosa-to-linalg),canonicalize,cse,htp-attach-hierarchy{from=locations})' -split-input-file -allow-unregistered-dialect | FileCheck %s --check-prefix=LOWERED

htp.hierarchy @Net : "demo.Net" {
  htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn
}
// CHECK-LABEL: func.func @linalg
// LOWERED-LABEL: func.func @linalg
func.func @linalg(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: linalg.matmul {htp.tag = #htp.tag<"fc", evidence = "location", confidence = {{[0-9.]+}}>}
  // LOWERED: linalg.matmul {htp.tag = #htp.tag<"fc", evidence = "location", confidence = {{[0-9.]+}}>}
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "fc"}>["m"])
  return %0 : tensor<4x4xf32>
}

// -----

htp.hierarchy @Net : "demo.Net" {
  htp.module @act : "demo.Act" calls 2
}
// CHECK-LABEL: func.func @tosa
// LOWERED-LABEL: func.func @tosa
func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tosa.tanh {{.*}}htp.tag = #htp.tag<"act", evidence = "location", confidence = {{[0-9.]+}}>
  // CHECK: tosa.tanh {{.*}}htp.tag = #htp.tag<"act", call = 1, evidence = "location", confidence = {{[0-9.]+}}>
  // LOWERED: linalg.generic
  // LOWERED: math.tanh {{.*}}htp.tag = #htp.tag<"act", evidence = "location"
  // LOWERED: linalg.generic
  // LOWERED: math.tanh {{.*}}htp.tag = #htp.tag<"act", call = 1, evidence = "location"
  %0 = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["t0"])
  %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.call = 1 : i64, htp.scope = "act"}>["t1"])
  return %1 : tensor<4xf32>
}

// -----

// A tree that is nowhere else comes from the locations too.

// CHECK: htp.hierarchy @model
// CHECK-NEXT: htp.module @act
// CHECK-LABEL: func.func @main_graph
// LOWERED-LABEL: func.func @main_graph
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  // CHECK: "onnx.Relu"{{.*}} {htp.tag = #htp.tag<"act", evidence = "location", confidence = {{[0-9.]+}}>, onnx_output_names = ["y"]}
  // LOWERED: "onnx.Relu"{{.*}} {htp.tag = #htp.tag<"act", evidence = "location", confidence = {{[0-9.]+}}>
  %0 = "onnx.Relu"(%x) {onnx_output_names = ["y"]} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["/act/Relu"])
  "onnx.Return"(%0) : (tensor<4xf32>) -> ()
}
