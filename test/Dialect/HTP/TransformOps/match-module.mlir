// A schedule for one class of modules: its matmuls are tiled, the others are
// left as they are. Of the four, two say their module by a tag and two by their
// locations alone, as after a lowering.
// RUN: htp-opt %s --transform-interpreter -split-input-file | FileCheck %s
// RUN: mlir-opt %s %load_htp --transform-interpreter -split-input-file | FileCheck %s

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @layer.0.attention : "demo.Attention"
    htp.module @layer.0.attention.query : "torch.nn.modules.linear.Linear" torch_nn
    htp.module @layer.0.mlp : "demo.MLP"
    htp.module @layer.1.attention : "demo.Attention"
    htp.module @layer.1.mlp : "demo.MLP"
  }

  // CHECK-LABEL: func.func @tile_one_class
  func.func @tile_one_class(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %out: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // CHECK: scf.for
    // CHECK-NEXT: extract_slice
    // CHECK: linalg.matmul {htp.tag = #htp.tag<"layer.0.attention.query">} {{.*}}tensor<4x8xf32>
    // CHECK-NOT: scf.for
    // CHECK: linalg.matmul {htp.tag = #htp.tag<"layer.0.mlp">} {{.*}}tensor<8x8xf32>
    // CHECK: scf.for
    // CHECK: linalg.matmul ins({{.*}}tensor<4x8xf32>
    // CHECK-NOT: scf.for
    // CHECK: linalg.matmul ins({{.*}}tensor<8x8xf32>
    // CHECK-NOT: scf.for
    // CHECK: return
    %0 = linalg.matmul {htp.tag = #htp.tag<"layer.0.attention.query">} ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = linalg.matmul {htp.tag = #htp.tag<"layer.0.mlp">} ins(%0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = linalg.matmul ins(%1, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32> loc(fused<{htp.scope = "layer.1.attention"}>["m2"])
    %3 = linalg.matmul ins(%2, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32> loc(fused<{htp.scope = "layer.1.mlp"}>["m3"])
    return %3 : tensor<8x8xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmuls = transform.htp.match_module class "Attention" ops ["linalg.matmul"] in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %matmuls tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A model lowered by passes that have never heard of HTP, in one run with the
// schedule: only the locations still say which module an op is of.

module attributes {transform.with_named_sequence} {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @fc : "demo.Linear"
    htp.module @head : "demo.Linear"
  }
  // CHECK-LABEL: func.func @lowered
  func.func @lowered(%x: tensor<1x8x8xf32>, %w: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
    // CHECK: linalg.batch_matmul ins({{.*}}tensor<1x8x8xf32>, tensor<1x8x8xf32>
    // CHECK: scf.for
    // CHECK: linalg.batch_matmul ins({{.*}}tensor<1x4x8xf32>
    %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.matmul %x, %w, %zp, %zp {htp.tag = #htp.tag<"fc">} : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32> loc(fused<{htp.scope = "fc"}>["m0"])
    %1 = tosa.matmul %0, %w, %zp, %zp {htp.tag = #htp.tag<"head">} : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32> loc(fused<{htp.scope = "head"}>["m1"])
    return %1 : tensor<1x8x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %functions = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %lowered = transform.apply_registered_pass "tosa-to-linalg-named" to %functions : (!transform.any_op) -> !transform.any_op
    %matmuls = transform.htp.match_module path "head" ops ["linalg.batch_matmul"] in %lowered : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %matmuls tile_sizes [0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
