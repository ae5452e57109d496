// RUN: htp-opt %s --htp-extract=module=layer.1 -allow-unregistered-dialect | FileCheck %s
// RUN: htp-opt %s --htp-extract=module=/Net/Layer.1 -allow-unregistered-dialect | FileCheck %s
// RUN: htp-opt %s --htp-extract="module=layer.0 call=1" -allow-unregistered-dialect | FileCheck %s --check-prefix=CALL
// RUN: htp-opt %s --htp-extract=module=layer.2 -allow-unregistered-dialect | FileCheck %s --check-prefix=COPY
// RUN: htp-opt %s --htp-extract='module=layer.*' -allow-unregistered-dialect | FileCheck %s --check-prefix=GLOB

module attributes {onnx.ir_version = 8 : si64} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer : "torch.nn.modules.container.ModuleList" torch_nn calls 0
    htp.module @layer.0 : "demo.Layer" calls 2
    htp.module @layer.0.fc : "torch.nn.modules.linear.Linear" torch_nn calls 2 parameters [#htp.parameter<"weight" : tensor<4xf32>>]
    htp.module @layer.1 : "demo.Layer"
    htp.module @layer.1.fc : "torch.nn.modules.linear.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<4xf32>>]
    htp.module @layer.2 : "demo.Layer"
    htp.module @layer.2.fc : "torch.nn.modules.linear.Linear" torch_nn parameters [#htp.parameter<"weight" : tensor<4xf32>>]
    htp.module @unused : "demo.Unused" parameters [#htp.parameter<"weight" : tensor<4xf32>>]
  }
  func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> attributes {onnx.graph_name = "main"} {
    %w0 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.0.fc.weight", htp.users = ["layer.0.fc"], value = dense<2.0> : tensor<4xf32>, onnx_output_names = ["w0"]} : () -> tensor<4xf32>
    %w1 = "onnx.Constant"() {onnx.initializer, htp.parameter = "layer.1.fc.weight", htp.users = ["layer.1.fc", "other"], value = dense<4.0> : tensor<4xf32>, onnx_output_names = ["w1"]} : () -> tensor<4xf32>
    %one = "onnx.Constant"() {htp.tag = #htp.tag<"layer.0">, value = dense<1.0> : tensor<f32>, onnx_output_names = ["one"]} : () -> tensor<f32>
    %0 = "onnx.Mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0.fc">, onnx_output_names = ["v0"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "onnx.Max"(%0, %one) {htp.tag = #htp.tag<"layer.0">, onnx_output_names = ["v1"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = "onnx.Mul"(%1, %w0) {htp.tag = #htp.tag<"layer.0.fc", call = 1>, onnx_output_names = ["v2"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "onnx.Max"(%2, %one) {htp.tag = #htp.tag<"layer.0", call = 1>, onnx_output_names = ["v3"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = "onnx.Mul"(%3, %w1) {htp.tag = #htp.tag<"layer.1.fc", evidence = "name", contexts = [#htp.context<"layer.1", evidence = "consumer", confidence = 0.5>, #htp.context<"layer.0", evidence = "producer", confidence = 0.5>]>, onnx_output_names = ["v4"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = "onnx.Max"(%4, %one) {htp.tag = #htp.tag<"layer.1">, onnx_output_names = ["v5"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %w2 = "onnx.Identity"(%w1) {htp.tag = #htp.tag<"layer.2.fc">, onnx_output_names = ["layer.2.fc.weight"]} : (tensor<4xf32>) -> tensor<4xf32>
    %6 = "onnx.Mul"(%5, %w2) {htp.tag = #htp.tag<"layer.2.fc">, onnx_output_names = ["v6"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %6 : tensor<4xf32>
  }
}

// CHECK: module attributes {onnx.ir_version = 8 : si64}
// CHECK-NEXT: htp.hierarchy @Layer : "demo.Layer" {
// CHECK-NEXT:   htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn parameters
// CHECK-NEXT: }
// CHECK-NEXT: func @main_graph(%[[X:.*]]: tensor<4xf32> {onnx.name = "v3"}) -> (tensor<4xf32> {onnx.name = "v5"}) attributes {onnx.graph_name = "main"}
// CHECK-NEXT:   %[[W:.*]] = "onnx.Constant"{{.*}}htp.parameter = "fc.weight", htp.users = ["fc"]
// CHECK-NEXT:   %[[ONE:.*]] = "onnx.Constant"{{.*}}htp.tag = #htp.tag<"">
// CHECK-NEXT:   %[[M:.*]] = "onnx.Mul"(%[[X]], %[[W]]) {htp.tag = #htp.tag<"fc", evidence = "name", contexts = [#htp.context<"", evidence = "consumer", confidence = 0.5>]>
// CHECK-NEXT:   %[[R:.*]] = "onnx.Max"(%[[M]], %[[ONE]]) {htp.tag = #htp.tag<"">
// CHECK-NEXT:   return %[[R]]

// CALL: htp.hierarchy @Layer : "demo.Layer" {
// CALL-NEXT: htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn parameters
// CALL: func @main_graph(%{{.*}}: tensor<4xf32> {onnx.name = "v1"}) -> (tensor<4xf32> {onnx.name = "v3"})
// CALL: "onnx.Mul"{{.*}} {htp.tag = #htp.tag<"fc">

// A copy of a parameter comes with the parameter.
// COPY: func @main_graph(%[[X:.*]]: tensor<4xf32> {onnx.name = "v5"}) -> (tensor<4xf32> {onnx.name = "v6"})
// COPY-NEXT: %[[W:.*]] = "onnx.Constant"
// COPY-NEXT: %[[C:.*]] = "onnx.Identity"(%[[W]])
// COPY-NEXT: "onnx.Mul"(%[[X]], %[[C]])

// GLOB: module @layer.0 attributes {onnx.ir_version = 8 : si64}
// GLOB: module @layer.1 attributes {onnx.ir_version = 8 : si64}
// GLOB: module @layer.2 attributes {onnx.ir_version = 8 : si64}
// GLOB-NOT: {{^ +}}module @
