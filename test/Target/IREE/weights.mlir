// Where the model computes between its layers, weights are buffers in the torch form, too.
// RUN: rm -rf %t && htp-opt %s --emit=iree -o %t && FileCheck %s --input-file=%t/main.mlir
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/model.json
// RUN: sed 's/perm = \[1 : si64, 0 : si64\]/perm = [1 : si64, 9 : si64]/' %s > %t.mlir
// RUN: rm -rf %t && htp-opt %t.mlir --emit=iree -o %t && FileCheck %s --check-prefix=BROKEN --input-file=%t/main_around.mlir

// A weight goes into a layer as a buffer. The model's own node needs it as a tensor.
// CHECK: util.func private @Layer.Layer$async(%a0: tensor<2x8xf32>, %a1: !hal.buffer_view) -> (tensor<2x8xf32>) attributes {iree.abi.model = "coarse-fences", nosideeffects}
// CHECK-NEXT: util.global private mutable @w0 : !hal.buffer_view
// CHECK-NEXT: util.global private mutable @w1 : !hal.buffer_view
// CHECK-NEXT: util.func public @set_weights(%w0: !hal.buffer_view, %w1: !hal.buffer_view) {
// CHECK-NEXT: util.global.store %w0, @w0 : !hal.buffer_view
// CHECK-NEXT: util.global.store %w1, @w1 : !hal.buffer_view
// CHECK-NEXT: util.return
// CHECK: func.func @main_graph(%arg0: !torch.vtensor<[2,8],f32>)
// CHECK-NEXT: %w0 = util.global.load @w0 : !hal.buffer_view
// CHECK-NEXT: %w1 = util.global.load @w1 : !hal.buffer_view
// CHECK: %[[BIAS:.*]] = hal.tensor.import %w1 : !hal.buffer_view -> tensor<2x8xf32>
// CHECK-NEXT: %[[TORCH:.*]] = torch_c.from_builtin_tensor %[[BIAS]] : tensor<2x8xf32> -> !torch.vtensor<[2,8],f32>
// A factor of a few elements is no weight: IREE must see it.
// CHECK: %[[TWO:.*]] = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.000000e+00> : tensor<f32>}
// CHECK: %[[X:.*]] = torch_c.to_builtin_tensor %arg0
// CHECK: %[[A:.*]] = util.call @Layer.Layer$async(%[[X]], %w0) : (tensor<2x8xf32>, !hal.buffer_view) -> (tensor<2x8xf32>)
// CHECK: %[[M:.*]] = torch.operator "onnx.Mul"(%{{.*}}, %[[TWO]])
// CHECK: torch.operator "onnx.Add"(%[[M]], %[[TORCH]])
// Both calls share the weight.
// CHECK: util.call @Layer.Layer$async(%{{.*}}, %w0)

// A Transpose that is none is not done when weights are written, but left to whoever reads the node.
// BROKEN: torch.operator "onnx.Transpose"({{.*}}) {torch.onnx.perm = [1 : si64, 9 : si64]}

// JSON: "weights": [
// JSON: "name": "layers.w"
// JSON: "offset": 0,
// JSON-NEXT: "bytes": 256
// JSON: "name": "bias"
// JSON: "offset": 256,
// JSON-NEXT: "bytes": 64
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  func.func private @Layer(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> attributes {htp.module = "layer"} {
    %0 = "onnx.MatMul"(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    onnx.Return %0 : tensor<2x8xf32>
  }
  func.func @main_graph(%x: tensor<2x8xf32> {onnx.name = "x"}) -> (tensor<2x8xf32> {onnx.name = "y"}) {
    %stored = "onnx.Constant"() {value = dense<1.0> : tensor<8x8xf32>, onnx.initializer, htp.parameter = "layers.w", onnx_output_names = ["w"]} : () -> tensor<8x8xf32>
    %w = "onnx.Transpose"(%stored) {perm = [1 : si64, 0 : si64]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %bias = "onnx.Constant"() {value = dense<3.0> : tensor<2x8xf32>, onnx.initializer, onnx_output_names = ["bias"]} : () -> tensor<2x8xf32>
    %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>, onnx.initializer, onnx_output_names = ["two"]} : () -> tensor<f32>
    %a = call @Layer(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %m = "onnx.Mul"(%a, %two) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %s = "onnx.Add"(%m, %bias) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %b = call @Layer(%s, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    onnx.Return %b : tensor<2x8xf32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
