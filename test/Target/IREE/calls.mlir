// The main file of models that are made in another way than layer after layer.
// RUN: split-file %s %t
// RUN: rm -rf %t/out && htp-opt %t/branches.mlir --emit=iree -o %t/out && FileCheck %t/branches.mlir --input-file=%t/out/main.mlir
// RUN: rm -rf %t/out && htp-opt %t/between.mlir --emit=iree -o %t/out && FileCheck %t/between.mlir --input-file=%t/out/main.mlir
// RUN: FileCheck %t/between.mlir --check-prefix=JSON --input-file=%t/out/model.json

// Two branches run at the same time; what reads both waits for both. An output
// may be an input, or made early.
//--- branches.mlir
// CHECK: vm.func private @main_graph(%arg0: !vm.ref<!hal.buffer_view>, %arg1: !vm.ref<!hal.buffer_view>) -> (!vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>)
// CHECK: %[[FA:.*]] = vm.call @hal.fence.create
// CHECK-NEXT: %[[A:.*]]:2 = vm.call @One.One$async(%arg0, %none, %[[FA]]) : {{.*}} -> (!vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>)
// CHECK-NEXT: %[[FB:.*]] = vm.call @hal.fence.create
// CHECK-NEXT: %[[B:.*]]:2 = vm.call @One.One$async(%arg1, %none, %[[FB]])
// CHECK-NEXT: %[[BOTH:.*]] = vm.call.variadic @hal.fence.join(%flags, [%[[FA]], %[[FB]]]) {nosideeffects}
// CHECK-NEXT: %[[FC:.*]] = vm.call @hal.fence.create
// CHECK-NEXT: %[[C:.*]] = vm.call @Two.Two$async(%[[A]]#0, %[[B]]#1, %[[BOTH]], %[[FC]])
// CHECK: vm.call.variadic.yieldable @hal.fence.await(%forever, %flags, %[[FC]], %[[FB]]) <segment_sizes = dense<[-1, -1, 2]>
// CHECK: vm.return %[[C]], %arg0, %[[B]]#0 : !vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>
func.func private @One(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {htp.module = "one"} {
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @Two(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {htp.module = "two"} {
  %0 = "onnx.Add"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}
func.func @main_graph(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a, %b = call @One(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %c, %d = call @One(%y) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %e = call @Two(%a, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %e, %x, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Where the model does something between its layers, IREE has to compile that.
//--- between.mlir
// CHECK: util.func private @One.One$async(%a0: tensor<2xf32>) -> (tensor<2xf32>) attributes {iree.abi.model = "coarse-fences", nosideeffects}
// CHECK: func.func @main_graph(
// CHECK: %[[X:.*]] = torch_c.to_builtin_tensor %arg0
// CHECK: %[[A:.*]] = util.call @One.One$async(%[[X]])
// CHECK: %[[T:.*]] = torch_c.from_builtin_tensor %[[A]]
// CHECK: %[[N:.*]] = torch.operator "onnx.Neg"(%[[T]])
// CHECK: %[[I:.*]] = torch_c.to_builtin_tensor %[[N]]
// CHECK: util.call @One.One$async(%[[I]])
// JSON: "main": {
// JSON-NOT: "mode"
// JSON: "inputs"
func.func private @One(%x: tensor<2xf32>) -> tensor<2xf32> attributes {htp.module = "one"} {
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}
func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = call @One(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %n = "onnx.Neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %b = call @One(%n) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %b : tensor<2xf32>
}
