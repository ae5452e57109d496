// --htp-outline in a stock mlir-opt, on linalg, with scopes in the locations
// alone; the last module is tosa.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline)' | FileCheck %s
// RUN: mlir-opt %s %load_htp -mlir-print-debuginfo -mlir-print-local-scope -o %t.flat
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-outline,htp-inline)' -mlir-print-debuginfo -mlir-print-local-scope -o %t.inlined
// RUN: diff %t.flat %t.inlined

#map = affine_map<(d0, d1) -> (d0, d1)>

htp.hierarchy @Net : "demo.Net" {
  htp.module @block.0 : "demo.Block"
  htp.module @block.1 : "demo.Block"
  htp.module @head : "demo.Head"
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32>, %[[A:[a-z0-9]+]]: tensor<4x4xf32>, %[[B:[a-z0-9]+]]: tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant
  // CHECK-NEXT: %[[E:.*]] = tensor.empty
  // CHECK: %[[R0:.*]] = call @Block(%{{.*}}) {htp.order = {{.*}}htp.tag = #htp.tag<"block.0">}
  // CHECK: %[[R1:.*]] = call @Block(%{{.*}}) {htp.order = {{.*}}htp.tag = #htp.tag<"block.1">}
  // CHECK: %[[R2:.*]] = call @Head(%[[R1]]
  // CHECK: return %[[R2]]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "block.0"}>["f0"])
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "block.1"}>["f1"])
  %m0 = linalg.matmul ins(%x, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f0 : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "block.0"}>["m0"])
  %g0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%m0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %max = arith.maximumf %in, %zero : f32
    linalg.yield %max : f32
  } -> tensor<4x4xf32> loc(fused<{htp.scope = "block.0"}>["g0"])
  %m1 = linalg.matmul ins(%g0, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f1 : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "block.1"}>["m1"])
  %g1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%m1 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %max = arith.maximumf %in, %zero : f32
    linalg.yield %max : f32
  } -> tensor<4x4xf32> loc(fused<{htp.scope = "block.1"}>["g1"])
  %t0 = tosa.tanh %g1 : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "head"}>["t0"])
  %t1 = tosa.sigmoid %t0 : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<{htp.scope = "head"}>["t1"])
  return %t1 : tensor<4x4xf32>
}
// CHECK: func.func private @Block(
// CHECK-NOT: @Block_1
// CHECK: linalg.fill
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: linalg.generic
// CHECK: func.func private @Head(
// CHECK-NEXT: tosa.tanh
// CHECK-NEXT: tosa.sigmoid
