// RUN: htp-opt %s --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg),htp-attach-hierarchy{from=locations})' -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: htp-opt %s --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg),one-shot-bufferize{bufferize-function-boundaries},func.func(convert-linalg-to-loops),htp-attach-hierarchy{from=locations})' | FileCheck %s --check-prefix=LOOPS

// A small model, a linear layer and a block with an activation, lowered to linalg, arith and loops by passes that have never
// heard of HTP: each op still names the module that it came from, and the attributes come back.

// (Constants that MLIR's folders make for loop bounds have no location at all.)

// LOOPS: scf.for
// The body of linalg's named ops has no location: it is that of the loop.
// LOOPS: arith.mulf {{.*}}htp.tag = #htp.tag<"fc", evidence = "location", confidence = {{[0-9.]+}}, reason = "in the body of an op of the module">
// LOOPS: arith.addf {{.*}}htp.tag = #htp.tag<"fc", evidence = "location", confidence = {{[0-9.]+}}
// LOOPS: memref.store {{.*}}htp.tag = #htp.tag<"fc",
// LOOPS: arith.addf {{.*}}htp.tag = #htp.tag<"block", evidence = "location", confidence = {{[0-9.]+}}>
// LOOPS: math.exp {{.*}}htp.tag = #htp.tag<"block.act", evidence = "location", confidence = {{[0-9.]+}}>
// LOOPS: arith.divf {{.*}}htp.tag = #htp.tag<"block.act",

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn
    htp.module @block : "demo.Block"
    htp.module @block.act : "torch.nn.modules.activation.Sigmoid" torch_nn
  }
  // CHECK-LABEL: func @main_graph
  func.func @main_graph(%x: tensor<1x4x8xf32>, %w: tensor<1x8x2xf32>, %b: tensor<1x1x2xf32>) -> tensor<1x4x2xf32> {
    %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32> loc(fused<{htp.scope = "fc"}>["zp"])
    // CHECK: linalg.batch_matmul {htp.tag = #htp.tag<"fc", evidence = "location", confidence = {{[0-9.]+}}>}
    // CHECK-SAME: loc(fused<{htp.scope = "fc", htp.sources = 1 : i64}>["/fc/MatMul", "net.py":11:0])
    %0 = tosa.matmul %x, %w, %zp, %zp : (tensor<1x4x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2xf32>
      loc(fused<{htp.scope = "fc", htp.sources = 1 : i64}>["/fc/MatMul", "net.py":11:0])
    // CHECK: linalg.generic
    // CHECK: arith.addf {{.*}}htp.tag = #htp.tag<"block", evidence = "location", confidence = {{[0-9.]+}}>{{.*}}loc(fused<{htp.scope = "block"}>["/block/Add"])
    %1 = tosa.add %0, %b : (tensor<1x4x2xf32>, tensor<1x1x2xf32>) -> tensor<1x4x2xf32> loc(fused<{htp.scope = "block"}>["/block/Add"])
    // CHECK: linalg.generic
    // CHECK: math.exp {{.*}}htp.tag = #htp.tag<"block.act", evidence = "location", confidence = {{[0-9.]+}}>
    %2 = tosa.sigmoid %1 : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32> loc(fused<{htp.scope = "block.act"}>["/block/act/Sigmoid"])
    return %2 : tensor<1x4x2xf32> loc("return")
  }
}
