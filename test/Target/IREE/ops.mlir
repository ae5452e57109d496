// How nodes look in IREE's form: lists, types, several results, and bodies.
// RUN: rm -rf %t && htp-opt %s --emit=iree -o %t && FileCheck %s --input-file=%t/main.mlir

// CHECK: func.func @main_graph(%arg0: !torch.vtensor<[2,4],f32>, %arg1: !torch.vtensor<[],i1>, %arg2: !torch.vtensor<[],si64>)
// CHECK-SAME: attributes {torch.onnx_meta.opset_version = 18 : si64} {
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  func.func @main_graph(%x: tensor<2x4xf32> {onnx.name = "x"}, %c: tensor<i1> {onnx.name = "c"}, %n: tensor<i64> {onnx.name = "n"}) -> (tensor<4x2xi32> {onnx.name = "y"}) {
    // Integers in lists have a sign each; floats and texts are as they are.
    // CHECK: %[[T:.*]] = torch.operator "onnx.Transpose"(%arg0) {torch.onnx.perm = [1 : si64, 0 : si64]} : (!torch.vtensor<[2,4],f32>) -> !torch.vtensor<[4,2],f32>
    %t = "onnx.Transpose"(%x) {perm = [1 : si64, 0 : si64]} : (tensor<2x4xf32>) -> tensor<4x2xf32>
    // CHECK: %[[L:.*]] = torch.operator "onnx.LeakyRelu"(%[[T]]) {torch.onnx.alpha = 1.000000e-01 : f32}
    %l = "onnx.LeakyRelu"(%t) {alpha = 0.1 : f32} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // CHECK: %[[G:.*]] = torch.operator "onnx.Gelu"(%[[L]]) {torch.onnx.approximate = "tanh"}
    %g = "onnx.Gelu"(%l) {approximate = "tanh"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // Of several results each has a number.
    // CHECK: %[[S:.*]]:2 = torch.operator "onnx.Split"(%[[G]]) {torch.onnx.axis = 1 : si64, torch.onnx.num_outputs = 2 : si64} : (!torch.vtensor<[4,2],f32>) -> (!torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>)
    %s:2 = "onnx.Split"(%g) {axis = 1 : si64, num_outputs = 2 : si64} : (tensor<4x2xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
    // CHECK: %[[A:.*]] = torch.operator "onnx.Add"(%[[S]]#1, %[[S]]#0)
    %a = "onnx.Add"(%s#1, %s#0) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>

    // Bodies come in the order of their names. What they read from outside has the same name there.
    // CHECK: %[[I:.*]] = torch.operator "onnx.If"(%arg1) : (!torch.vtensor<[],i1>) -> !torch.vtensor<[4,1],f32> {
    // CHECK-NEXT: torch.operator_terminator %[[A]] : !torch.vtensor<[4,1],f32>
    // CHECK-NEXT: }, {
    // CHECK-NEXT: %[[N:.*]] = torch.operator "onnx.Neg"(%[[A]])
    // CHECK-NEXT: torch.operator_terminator %[[N]] : !torch.vtensor<[4,1],f32>
    // CHECK-NEXT: }
    %i = "onnx.If"(%c) ({
      %0 = "onnx.Neg"(%a) : (tensor<4x1xf32>) -> tensor<4x1xf32>
      onnx.Yield %0 : tensor<4x1xf32>
    }, {
      onnx.Yield %a : tensor<4x1xf32>
    }) {onnx.regions = ["then_branch", "else_branch"]} : (tensor<i1>) -> tensor<4x1xf32>

    // The arguments of a body.
    // CHECK: %[[LOOP:.*]] = torch.operator "onnx.Loop"(%arg2, %arg1, %[[I]]) : {{.*}} {
    // CHECK-NEXT: ^bb0(%[[NUMBER:.*]]: !torch.vtensor<[],si64>, %[[GO:.*]]: !torch.vtensor<[],i1>, %[[STATE:.*]]: !torch.vtensor<[4,1],f32>):
    // CHECK-NEXT: %[[NEW:.*]] = torch.operator "onnx.Relu"(%[[STATE]])
    // CHECK-NEXT: torch.operator_terminator %[[GO]], %[[NEW]] : !torch.vtensor<[],i1>, !torch.vtensor<[4,1],f32>
    // CHECK-NEXT: }
    %loop = "onnx.Loop"(%n, %c, %i) ({
    ^bb0(%number: tensor<i64>, %go: tensor<i1>, %state: tensor<4x1xf32>):
      %0 = "onnx.Relu"(%state) : (tensor<4x1xf32>) -> tensor<4x1xf32>
      onnx.Yield %go, %0 : tensor<i1>, tensor<4x1xf32>
    }) {onnx.regions = ["body"]} : (tensor<i64>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x1xf32>

    // A type is the number that ONNX has for it.
    // CHECK: torch.operator "onnx.Cast"(%[[LOOP]]) {torch.onnx.to = 6 : si64} : (!torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,2],si32>
    %y = "onnx.Cast"(%loop) {to = i32} : (tensor<4x1xf32>) -> tensor<4x2xi32>
    onnx.Return %y : tensor<4x2xi32>
  }
  "onnx.EntryPoint"() <{func = @main_graph}> : () -> ()
}
