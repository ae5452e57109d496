// Bools are written one by one: IREE's MLIR packs the digits of a large tensor of
// them in another way than this one.
// RUN: rm -rf %t && htp-opt %s --emit=iree -o %t && FileCheck %s --input-file=%t/main.mlir
// RUN: rm -rf %t2 && htp-opt %s -o %t.onnx && htp-opt %t.onnx --emit=iree -o %t2 && FileCheck %s --input-file=%t2/main.mlir

// CHECK: torch.onnx.value = dense<[true, false, false, true, false,
// CHECK-SAME: ]> : tensor<128xi1>} : () -> !torch.vtensor<[128],i1>
// CHECK: torch.onnx.value = dense<255> : tensor<1xui8>}
// CHECK: torch.onnx.value = dense<[1, -2]> : tensor<2xsi32>}
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  func.func @main_graph(%x: tensor<128xi1> {onnx.name = "x"}) -> (tensor<128xi1> {onnx.name = "y"}, tensor<1xui8> {onnx.name = "u"}, tensor<2xi32> {onnx.name = "w"}) {
    %b = "onnx.Constant"() {value = dense<[true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false]> : tensor<128xi1>, onnx_output_names = ["b"]} : () -> tensor<128xi1>
    %u = "onnx.Constant"() {value = dense<255> : tensor<1xui8>, onnx_output_names = ["u"]} : () -> tensor<1xui8>
    %w = "onnx.Constant"() {value = dense<[1, -2]> : tensor<2xi32>, onnx_output_names = ["w"]} : () -> tensor<2xi32>
    %y = "onnx.And"(%x, %b) {onnx_output_names = ["y"]} : (tensor<128xi1>, tensor<128xi1>) -> tensor<128xi1>
    onnx.Return %y, %u, %w : tensor<128xi1>, tensor<1xui8>, tensor<2xi32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
