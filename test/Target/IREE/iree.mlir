// RUN: rm -rf %t && mkdir %t && htp-opt %s --htp-outline=min-ops=1 --emit=iree -o %t/folder
// RUN: FileCheck %s --check-prefix=LAYER --input-file=%t/folder/Layer.mlir
// RUN: FileCheck %s --check-prefix=MAIN --input-file=%t/folder/main.mlir
// RUN: FileCheck %s --check-prefix=AFTER --input-file=%t/folder/main_around.mlir
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/folder/model.json
// RUN: ls %t/folder | FileCheck %s --check-prefix=FILES
// The weights, each from a multiple of 64 bytes on.
// RUN: od -A d -t f4 -v -w16 %t/folder/weights.bin | FileCheck %s --check-prefix=BYTES

// One file for the layer and its submodule, which is inlined. `Norm` is called
// again and again, too, but lies within the layers.
// FILES: Layer.mlir
// FILES-NEXT: main.mlir
// FILES-NEXT: main_around.mlir
// FILES-NEXT: model.json
// FILES-NEXT: weights.bin
// FILES-NOT: {{.}}

// Constants that all calls share are inside, integers have signs, and scopes
// are those of the module whose body it is.
// LAYER: module @Layer {
// LAYER-NEXT: func.func @Layer(%arg0: !torch.vtensor<[2,2],f32>, %arg1: !torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[2,2],f32>) attributes {torch.onnx_meta.opset_version = 18 : si64} {
// LAYER: %[[M:.*]] = torch.operator "onnx.MatMul"(%arg0, %arg1) : (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> loc(fused<{htp.scope = "layers.0"}>
// LAYER: %[[AXES:.*]] = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-1> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
// LAYER: torch.operator "onnx.ReduceMean"(%[[M]], %[[AXES]]) {torch.onnx.keepdims = 1 : si64} : {{.*}} -> !torch.vtensor<[2,1],f32> loc(fused<{htp.scope = "layers.0.norm"}>
// LAYER: return %{{.*}} : !torch.vtensor<[2,2],f32>

// Nothing but calls: a program of the virtual machine, in which a layer waits
// for the fence of what it reads and signals its own.
// MAIN: vm.module public @main {
// MAIN-NEXT: vm.import private @Layer.Layer$async(%a0 : !vm.ref<!hal.buffer_view>, %a1 : !vm.ref<!hal.buffer_view>, %wait : !vm.ref<!hal.fence>, %signal : !vm.ref<!hal.fence>) -> !vm.ref<!hal.buffer_view>
// MAIN-NEXT: vm.import private @main_around.main_after$async(%a0 : {{.*}}, %a3 : !vm.ref<!hal.buffer_view>, %wait : {{.*}}) -> !vm.ref<!hal.buffer_view>
// MAIN: vm.global.ref private mutable @w0 : !vm.ref<!hal.buffer_view>
// MAIN: vm.global.ref private mutable @w3 : !vm.ref<!hal.buffer_view>
// MAIN-NEXT: vm.func private @set_weights(%w0: !vm.ref<!hal.buffer_view>, %w1: {{.*}}, %w2: {{.*}}, %w3: !vm.ref<!hal.buffer_view>) {
// MAIN-NEXT: vm.global.store.ref %w0, @w0
// MAIN: vm.export @set_weights
// MAIN: vm.func private @main_graph(%arg0: !vm.ref<!hal.buffer_view>, %arg1: !vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer_view>
// MAIN: %[[W0:.*]] = vm.global.load.ref @w0
// MAIN: %[[F0:.*]] = vm.call @hal.fence.create
// MAIN: %[[A:.*]] = vm.call @Layer.Layer$async(%arg0, %[[W0]], %none, %[[F0]]) : {{.*}} loc(fused<{htp.scope = "layers.0"}>
// What one layer made goes into the next as it is.
// MAIN: %[[W1:.*]] = vm.global.load.ref @w1
// MAIN: %[[F1:.*]] = vm.call @hal.fence.create
// MAIN: %[[B:.*]] = vm.call @Layer.Layer$async(%[[A]], %[[W1]], %[[F0]], %[[F1]])
// MAIN: %[[F2:.*]] = vm.call @hal.fence.create
// MAIN: %[[Y:.*]] = vm.call @main_around.main_after$async(%[[B]], %{{.*}}, %{{.*}}, %arg1, %[[F1]], %[[F2]])
// MAIN: vm.call.variadic.yieldable @hal.fence.await(%forever, %flags, %[[F2]])
// MAIN: vm.return %[[Y]] : !vm.ref<!hal.buffer_view>
// MAIN: vm.export @main_graph attributes {{.*}}"sync func @main_graph(%input0: tensor<2x2xf32>, %input1: tensor<?xi64>) -> (%output0: tensor<2x?xf32>)"

// What comes after the last layer, with weights as arguments and the constants that IREE must see inside.
// AFTER: module @main_around {
// AFTER-NEXT: func.func @main_after(%[[OUT:.*]]: !torch.vtensor<[2,2],f32>, %[[W2:.*]]: !torch.vtensor<[5,2],f32>, %[[TABLE:.*]]: !torch.vtensor<[3,4],f32>, %[[IDS:.*]]: !torch.vtensor<[?],si64>) -> (!torch.vtensor<[2,?],f32>)
// AFTER: %[[NONE:.*]] = torch.constant.none
// A function that is not the layer's is inlined, with the names that it has here.
// AFTER: torch.operator "onnx.ReduceMean"(%[[OUT]], {{.*}} loc(fused<{htp.scope = "norm"}>["r2"])
// AFTER: torch.operator "onnx.Clip"(%[[OUT]], %[[NONE]], %{{.*}})
// What is only transposed is stored so.
// AFTER-NOT: onnx.Transpose
// AFTER: torch.operator "onnx.MatMul"(%[[W2]]
// AFTER: torch.operator "onnx.Gather"(%{{.*}}, %[[IDS]]) {torch.onnx.axis = 1 : si64}

// JSON: "format": "htp-iree"
// JSON: "entry": "main_graph"
// JSON: "name": "Layer"
// JSON-NEXT: "class": "Layer"
// JSON-NEXT: "digest": "{{[0-9a-f]+}}"
// JSON-NEXT: "calls": [
// JSON-NEXT: "layers.0",
// JSON-NEXT: "layers.1"
// JSON: "main": {
// JSON: "mode": "vm"
// JSON: "inputs": [
// JSON: "name": "ids",
// JSON-NEXT: "type": "si64",
// JSON-NEXT: "shape": [
// JSON-NEXT: "length"
// JSON: "outputs": [
// JSON: "name": "y"
// JSON: "weights": [
// JSON: "name": "layers.1.w",
// JSON: "offset": 64,
// JSON-NEXT: "bytes": 16

// BYTES: 0000000 1 1 1 1
// BYTES: 0000064 2 2 2 2
// BYTES: 0000128 0 5 1 6
// BYTES-NEXT: 0000144 2 7 3 8
// BYTES-NEXT: 0000160 4 9
// BYTES: 0000192 3 3 3 3

module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layers.0 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2x2xf32>>]
    htp.module @layers.0.norm : "demo.Norm"
    htp.module @layers.1 : "demo.Layer" parameters [#htp.parameter<"w" : tensor<2x2xf32>>]
    htp.module @layers.1.norm : "demo.Norm"
    htp.module @norm : "demo.Norm"
  }
  func.func @main_graph(%x: tensor<2x2xf32> {onnx.name = "x"}, %ids: tensor<?xi64> {onnx.name = "ids", onnx.dim_params = "0:length"}) -> (tensor<2x?xf32> {onnx.name = "y"}) {
    %w0 = "onnx.Constant"() {value = dense<1.0> : tensor<2x2xf32>, onnx.initializer, htp.parameter = "layers.0.w", onnx_output_names = ["w0"]} : () -> tensor<2x2xf32>
    %w1 = "onnx.Constant"() {value = dense<2.0> : tensor<2x2xf32>, onnx.initializer, htp.parameter = "layers.1.w", onnx_output_names = ["w1"]} : () -> tensor<2x2xf32>
    %table = "onnx.Constant"() {value = dense<3.0> : tensor<3x4xf32>, onnx.initializer, onnx_output_names = ["table"]} : () -> tensor<3x4xf32>
    %long = "onnx.Constant"() {value = dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]> : tensor<2x5xf32>, onnx.initializer, onnx_output_names = ["long"]} : () -> tensor<2x5xf32>
    %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>, onnx.initializer, onnx_output_names = ["axes"]} : () -> tensor<1xi64>
    %most = "onnx.Constant"() {value = dense<6.0> : tensor<f32>, onnx.initializer, onnx_output_names = ["most"]} : () -> tensor<f32>
    %none = "onnx.NoValue"() {value} : () -> none
    %m0 = "onnx.MatMul"(%x, %w0) {htp.tag = #htp.tag<"layers.0">} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused<{htp.scope = "layers.0"}>["m0"])
    %r0 = "onnx.ReduceMean"(%m0, %axes) {keepdims = 1 : si64, htp.tag = #htp.tag<"layers.0.norm">} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x1xf32> loc(fused<{htp.scope = "layers.0.norm"}>["r0"])
    %d0 = "onnx.Sub"(%m0, %r0) {htp.tag = #htp.tag<"layers.0.norm">} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32> loc(fused<{htp.scope = "layers.0.norm"}>["d0"])
    %m1 = "onnx.MatMul"(%d0, %w1) {htp.tag = #htp.tag<"layers.1">} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused<{htp.scope = "layers.1"}>["m1"])
    %r1 = "onnx.ReduceMean"(%m1, %axes) {keepdims = 1 : si64, htp.tag = #htp.tag<"layers.1.norm">} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x1xf32> loc(fused<{htp.scope = "layers.1.norm"}>["r1"])
    %d1 = "onnx.Sub"(%m1, %r1) {htp.tag = #htp.tag<"layers.1.norm">} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32> loc(fused<{htp.scope = "layers.1.norm"}>["d1"])
    %r2 = "onnx.ReduceMean"(%d1, %axes) {keepdims = 1 : si64, htp.tag = #htp.tag<"norm">} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x1xf32> loc(fused<{htp.scope = "norm"}>["r2"])
    %d2 = "onnx.Sub"(%d1, %r2) {htp.tag = #htp.tag<"norm">} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32> loc(fused<{htp.scope = "norm"}>["d2"])
    %c = "onnx.Clip"(%d1, %none, %most) {htp.tag = #htp.tag<"">} : (tensor<2x2xf32>, none, tensor<f32>) -> tensor<2x2xf32> loc(fused<{htp.scope = ""}>["c"])
    %turned = "onnx.Transpose"(%long) {perm = [1 : si64, 0 : si64], htp.tag = #htp.tag<"">} : (tensor<2x5xf32>) -> tensor<5x2xf32> loc(fused<{htp.scope = ""}>["t"])
    %more = "onnx.MatMul"(%turned, %d2) {htp.tag = #htp.tag<"">} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32> loc(fused<{htp.scope = ""}>["mm"])
    %s = "onnx.Slice"(%table, %axes, %axes) {htp.tag = #htp.tag<"">} : (tensor<3x4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32> loc(fused<{htp.scope = ""}>["s"])
    %p = "onnx.MatMul"(%c, %s) {htp.tag = #htp.tag<"">} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc(fused<{htp.scope = ""}>["p"])
    %q = "onnx.MatMul"(%d2, %p) {htp.tag = #htp.tag<"">} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc(fused<{htp.scope = ""}>["q"])
    %y = "onnx.Gather"(%q, %ids) {axis = 1 : si64, htp.tag = #htp.tag<"">} : (tensor<2x4xf32>, tensor<?xi64>) -> tensor<2x?xf32> loc(fused<{htp.scope = ""}>["y"])
    onnx.Return %y : tensor<2x?xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
