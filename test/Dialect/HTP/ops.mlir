// RUN: htp-opt %s -mlir-print-debuginfo | htp-opt -mlir-print-debuginfo | FileCheck %s
// RUN: htp-opt %s -emit-bytecode | htp-opt -mlir-print-debuginfo | FileCheck %s

// CHECK: #[[ORIGINALS:originals.*]] = #htp.originals<[{}, {flag, loc = {{.*}}, "not a keyword" = 1 : i64}]>

// CHECK: htp.hierarchy @Net : "demo.Net" {
// CHECK-NEXT: htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn calls 2 parameters [#htp.parameter<"weight" : tensor<4x2xf32>, hash = 7>]
htp.hierarchy @Net : "demo.Net" {
  htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn calls 2
    parameters [#htp.parameter<"weight" : tensor<4x2xf32>, hash = 7>]
  // CHECK-NEXT: htp.module @layer : "demo.Layer" aliases ["other"]
  htp.module @layer : "demo.Layer" aliases ["other"]
  // CHECK-NEXT: htp.module @layer.0 : "demo.Block"
  htp.module @layer.0 : "demo.Block"
}

// CHECK-LABEL: func @tagged
func.func @tagged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: htp.tag = #htp.tag<"layer.0", call = 1, evidence = "name", confidence = 0.9, reason = "because", contexts = [#htp.context<"fc", evidence = "consumer", confidence = 0.5>]>
  // CHECK-SAME: loc(#[[LOC:.*]])
  %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"layer.0", call = 1, evidence = "name", confidence = 0.9, reason = "because",
    contexts = [#htp.context<"fc", evidence = "consumer", confidence = 0.5>]>} : (tensor<4xf32>) -> tensor<4xf32>
    loc(fused<{htp.call = 1 : i64, htp.scope = "layer.0"}>["Relu_1"])
  onnx.Return %0 : tensor<4xf32>
}

// CHECK-LABEL: func private @recorded
// CHECK-SAME: htp.originals = #[[ORIGINALS]]
func.func private @recorded() attributes {htp.originals = #htp.originals<[{}, {loc = loc("a"), "not a keyword" = 1 : i64, flag}]>}

// A confidence is printed as the shortest decimal that means the same number; one that no decimal means
// can be read again all the same (--htp-verify-tags refuses it).
// CHECK-LABEL: func private @confidences
// CHECK-SAME: htp.tag = #htp.tag<"", confidence = 0.1>
func.func private @confidences() attributes {htp.tag = #htp.tag<"", confidence = 0.1000000000000000055511151231257827>}
// CHECK: htp.tag = #htp.tag<"", confidence = 0.12345678901234568>
func.func private @long() attributes {htp.tag = #htp.tag<"", confidence = 0.12345678901234568>}
// CHECK: htp.tag = #htp.tag<"", confidence = 0x7FF0000000000000>
func.func private @infinite() attributes {htp.tag = #htp.tag<"", confidence = 0x7FF0000000000000>}
// CHECK: htp.tag = #htp.tag<"", confidence = 1.000000e-30>
func.func private @tiny() attributes {htp.tag = #htp.tag<"", confidence = 1.0e-30>}

// CHECK: fused<{htp.call = 1 : i64, htp.scope = "layer.0"}>
