// What modules consist of, by kind: equal operations and weights of a module are counted.
// RUN: htp-opt %s --module-contents=- -o= | FileCheck %s
// RUN: htp-opt %s --module-contents=%t.1 -o= && htp-opt %s --module-contents=%t.2 -o= && cmp %t.1 %t.2

// CHECK-NOT: "nodes":{
// CHECK: "kinds":[
// CHECK-SAME: {"op_type":"MatMul","domain":"","inputs":{{\[}}["f32",[4,4]],["f32",[4,4]]],"outputs":{{\[}}["f32",[4,4]]],"attributes":{}},
// CHECK-SAME: {"op_type":"Softmax","domain":"","inputs":{{\[}}["f32",[4,4]]],"outputs":{{\[}}["f32",[4,4]]],"attributes":{"axis":-1}},
// CHECK-SAME: {"op_type":"Softmax",{{.*}}"attributes":{"axis":0}},
// CHECK-SAME: {"op_type":"Clip","domain":"","inputs":{{\[}}["f32",[4,4]],null],"outputs":{{\[}}["f32",null]],"attributes":{}}]
// Both products are of module 1; one is less sure. An untagged operation is in no module.
// CHECK-SAME: "operations":[
// CHECK-SAME: [null,3,"",0,false,1]
// CHECK-SAME: [0,1,"name",0.97,true,1]
// CHECK-SAME: [0,2,"name",0.97,false,1]
// CHECK-SAME: [1,0,"name",0.5,false,1]
// CHECK-SAME: [1,0,"name",0.97,false,2]]
// CHECK-SAME: "weights":[
// CHECK-SAME: {{\[}}[1],1,["f32",[4,4]],2]]
// CHECK-SAME: "unsure":{"m2":{"op_type":"MatMul"
// CHECK-SAME: "soft":{"op_type":"Softmax"
// CHECK-SAME: "clip":{"op_type":"Clip","domain":"","inputs":["t",""],"outputs":["y"],"tags":[],"tag":null}}
htp.hierarchy @Net : "net.Net" {
  htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn
}
func.func @main_graph(%x: tensor<4x4xf32> {onnx.name = "x"}) -> (tensor<*xf32> {onnx.name = "y"}) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["w"], htp.parameter = "fc.weight"} : () -> tensor<4x4xf32>
  %v = "onnx.Constant"() {value = dense<2.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["v"], htp.parameter = "fc.other"} : () -> tensor<4x4xf32>
  %0 = "onnx.MatMul"(%x, %w) {onnx_node_name = "m0", onnx_output_names = ["a"], htp.tag = #htp.tag<"fc", evidence = "name", confidence = 0.97>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "onnx.MatMul"(%0, %v) {onnx_node_name = "m1", onnx_output_names = ["b"], htp.tag = #htp.tag<"fc", evidence = "name", confidence = 0.97>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "onnx.MatMul"(%1, %w) {onnx_node_name = "m2", onnx_output_names = ["c"], htp.tag = #htp.tag<"fc", evidence = "name", confidence = 0.5>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "onnx.Softmax"(%2) {axis = -1 : si64, onnx_node_name = "soft", onnx_output_names = ["s"], htp.tag = #htp.tag<"", evidence = "name", confidence = 0.97, contexts = [#htp.context<"fc", evidence = "parameter", confidence = 0.5>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "onnx.Softmax"(%3) {axis = 0 : si64, onnx_node_name = "soft2", onnx_output_names = ["t"], htp.tag = #htp.tag<"", evidence = "name", confidence = 0.97>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %5 = "onnx.Clip"(%4, %none) {onnx_node_name = "clip", onnx_output_names = ["y"]} : (tensor<4x4xf32>, none) -> tensor<*xf32>
  onnx.Return %5 : tensor<*xf32>
}
