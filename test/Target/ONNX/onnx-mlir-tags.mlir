// RUN: htp-opt %s --emit=onnx-mlir -mlir-print-debuginfo -o %t.mlir
// RUN: FileCheck %s --check-prefix=STRICT --input-file=%t.mlir
// RUN: htp-opt %t.mlir --htp-attach-hierarchy=from=locations --htp-verify-tags -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefixes=BACK,KEPT
// RUN: htp-opt %t.mlir --htp-attach-hierarchy=from=locations --htp-verify-tags --htp-outline=classes=Layer | FileCheck %s --check-prefix=OUTLINED

// The same after onnx-mlir's own passes, which keep less of the constants.
// RUN: %python %S/Inputs/as_onnx_mlir.py %t.mlir > %t.printed.mlir
// RUN: FileCheck %s --check-prefix=PRINTED --input-file=%t.printed.mlir
// RUN: htp-opt %t.printed.mlir --htp-attach-hierarchy=from=locations --htp-verify-tags -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=BACK
// RUN: htp-opt %t.printed.mlir --htp-attach-hierarchy=from=locations --htp-verify-tags --htp-outline=classes=Layer | FileCheck %s --check-prefix=OUTLINED

// Tree, classes and parameters go along in what onnx-mlir's tools keep, and come back.

// STRICT: module attributes {htp.hierarchy = "{{.*}}demo.Net
// STRICT: onnx.Constant dense<{{.*}}> : tensor<2xf32> loc(#[[W:.*]])
// STRICT: #[[W]] = loc(fused<{htp.parameter = "layers.0.weight"}>

// PRINTED: module attributes {"onnx-mlir.symbol-postfix" = "model", htp.hierarchy =
// PRINTED: onnx.Constant dense<0.000000e+00> : tensor<2xf32> loc(unknown)
// PRINTED: return

// The modules that own no op are there, and so are the classes.
// BACK: module
// BACK-NOT: htp.hierarchy =
// BACK: htp.hierarchy @Net : "demo.Net" {
// BACK-NEXT: htp.module @layers : "torch.nn.modules.container.ModuleList" torch_nn calls 0
// BACK-NEXT: htp.module @layers.0 : "demo.Layer"
// BACK-SAME: weight
// BACK-NEXT: htp.module @layers.1 : "demo.Layer"
// BACK: "onnx.Constant"() <{value = dense<{{.*}}>}> {htp.parameter = "layers.{{[01]}}.weight", onnx.initializer}
// KEPT: "onnx.Constant"() <{value = dense<0.000000e+00> : tensor<2xf32>}> {htp.parameter = "layers.0.bias", onnx.initializer} : () -> tensor<2xf32> loc("Initializer_b0")
// KEPT: "onnx.Constant"() <{value = dense<0.000000e+00> : tensor<2xf32>}> {htp.parameter = "layers.1.bias", onnx.initializer} : () -> tensor<2xf32> loc("Initializer_b1")
// BACK: "onnx.Mul"({{.*}}htp.tag = #htp.tag<"layers.0", evidence = "location"
// BACK: "onnx.Mul"({{.*}}htp.tag = #htp.tag<"layers.1", evidence = "location"

// Layers are equal: weights are operands, tables lie inside.
// OUTLINED: call @Layer({{.*}}) {{.*}}#htp.tag<"layers.0">
// OUTLINED: call @Layer({{.*}}) {{.*}}#htp.tag<"layers.1">
// OUTLINED: func.func private @Layer(%{{.*}}: tensor<2xf32>{{.*}}, %{{.*}}: tensor<2xf32>{{.*}}, %{{.*}}: tensor<2xf32>{{.*}}) -> tensor<2xf32>
// OUTLINED-NEXT: dense<5.000000e-01>
// OUTLINED-NOT: func.func
module attributes {onnx.ir_version = 8 : si64, onnx.opset_import = [{version = 18 : si64}]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers : "torch.nn.modules.container.ModuleList" torch_nn calls 0
    htp.module @layers.0 : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<2xf32>>, #htp.parameter<"bias" : tensor<2xf32>>]
    htp.module @layers.1 : "demo.Layer" parameters [#htp.parameter<"weight" : tensor<2xf32>>, #htp.parameter<"bias" : tensor<2xf32>>]
  }
  func.func @main_graph(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
    %w0 = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.0.weight", onnx_output_names = ["w0"]} : () -> tensor<2xf32> loc("Initializer_w0")
    %b0 = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.0.bias", onnx_output_names = ["b0"]} : () -> tensor<2xf32> loc("Initializer_b0")
    %w1 = "onnx.Constant"() {value = dense<[3.0, 4.0]> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.1.weight", onnx_output_names = ["w1"]} : () -> tensor<2xf32> loc("Initializer_w1")
    %b1 = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>, onnx.initializer, htp.parameter = "layers.1.bias", onnx_output_names = ["b1"]} : () -> tensor<2xf32> loc("Initializer_b1")
    %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>, onnx.initializer, onnx_output_names = ["half"]} : () -> tensor<f32> loc("Initializer_half")
    %0 = "onnx.Mul"(%x, %w0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["m0"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.0"}>["m0"])
    %1 = "onnx.Mul"(%0, %half) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["h0"]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.0"}>["h0"])
    %2 = "onnx.Add"(%1, %b0) {htp.tag = #htp.tag<"layers.0">, onnx_output_names = ["a0"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.0"}>["a0"])
    %3 = "onnx.Mul"(%2, %w1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["m1"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.1"}>["m1"])
    %4 = "onnx.Mul"(%3, %half) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["h1"]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.1"}>["h1"])
    %5 = "onnx.Add"(%4, %b1) {htp.tag = #htp.tag<"layers.1">, onnx_output_names = ["y"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(fused<{htp.scope = "layers.1"}>["a1"])
    onnx.Return %5 : tensor<2xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}

// An outlined model keeps the paths of its functions' modules, so that scopes inside of them are understood.
// RUN: htp-opt %s --htp-outline=classes=Layer --emit=onnx-mlir -mlir-print-debuginfo -o %t.outlined.mlir
// RUN: FileCheck %s --check-prefix=FUNCTIONS --input-file=%t.outlined.mlir
// RUN: htp-opt %t.outlined.mlir --htp-attach-hierarchy=from=locations --htp-verify-tags | FileCheck %s --check-prefix=BODIES
// FUNCTIONS: func.func private @Layer({{.*}}attributes {htp.module = "layers.0"}
// BODIES: call @Layer({{.*}}htp.tag = #htp.tag<"layers.1", evidence = "location"
// BODIES: func.func private @Layer({{.*}}htp.module = "layers.0"
// BODIES-NEXT: "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<f32>}> {htp.tag = #htp.tag<"", evidence = "location", {{.*}}reason = "in the body of an op of the module">}
// BODIES-NEXT: "onnx.Mul"({{.*}}htp.tag = #htp.tag<"", evidence = "location"

// Nothing of HTP's is left after --htp-strip.
// RUN: htp-opt %t.mlir --htp-strip -mlir-print-debuginfo | FileCheck %s --check-prefix=STRIP
// STRIP-NOT: htp.

// A broken tree is said to be one, and locations have to do.
// RUN: sed 's/module attributes {htp.hierarchy = "{/module attributes {htp.hierarchy = "/' %t.mlir | htp-opt --htp-attach-hierarchy=from=locations 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: warning: attribute 'htp.hierarchy' holds no module tree: {{.+}}
// BROKEN: htp.module @layers.0 : ""
