// RUN: htp-opt %s --cse --canonicalize --htp-attach-hierarchy=from=locations -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: htp-opt %s --htp-strip -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=STRIP

// Passes that know nothing of HTP drop its attributes and keep its locations.

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @a : "demo.Block"
    htp.module @a.0 : "demo.Layer"
    htp.module @a.1 : "demo.Layer" calls 2
  }
  // CHECK-LABEL: func @one_scope
  // STRIP-LABEL: func @one_scope
  func.func @one_scope(%x: f32, %y: f32) -> f32 {
    // CHECK: arith.addf {{.*}}htp.tag = #htp.tag<"a.1", call = 1, evidence = "location", confidence = {{[0-9.]+}}>{{.*}}loc(fused<{htp.call = 1 : i64, htp.scope = "a.1", htp.sources = 1 : i64}>["add", "net.py":4:0])
    // STRIP: arith.addf {{.*}} loc("add")
    %0 = arith.addf %x, %y : f32 loc(fused<{htp.call = 1 : i64, htp.scope = "a.1", htp.sources = 1 : i64}>["add", "net.py":4:0])
    // The same again: cse drops it.
    %1 = arith.addf %x, %y : f32 loc(fused<{htp.scope = "a.0"}>["add again"])
    // CHECK-NEXT: arith.mulf {{.*}}htp.tag = #htp.tag<"a.0", evidence = "location", confidence = {{[0-9.]+}}>
    %2 = arith.mulf %0, %1 : f32 loc(fused<{htp.scope = "a.0"}>["mul"])
    // An attribute that survived says more than the location.
    // CHECK-NEXT: arith.mulf {{.*}}htp.tag = #htp.tag<"a.0", evidence = "name", confidence = {{[0-9.]+}}>
    %3 = arith.mulf %2, %y {htp.tag = #htp.tag<"a.0", evidence = "name", confidence = 0.5>} : f32 loc(fused<{htp.scope = "a.0"}>["mul 2"])
    return %3 : f32
  }

  // An op that a pass made of several belongs to what their modules share.
  // CHECK-LABEL: func @several_scopes
  // STRIP-LABEL: func @several_scopes
  func.func @several_scopes(%x: f32) -> f32 {
    // CHECK: math.exp {{.*}}htp.tag = #htp.tag<"a", evidence = "location", confidence = {{[0-9.]+}}, reason = "made of ops of several modules", contexts = [#htp.context<"a.0", evidence = "location", confidence = {{[0-9.]+}}>, #htp.context<"a.1", evidence = "location", confidence = {{[0-9.]+}}>]>
    // STRIP: math.exp {{.*}} loc(fused["p", "q"])
    %0 = math.exp %x : f32 loc(fused[fused<{htp.scope = "a.0"}>["p"], fused<{htp.scope = "a.1"}>["q"]])
    return %0 : f32
  }
}

// -----

// Without a tree it comes from the locations too.

module {
  // CHECK: htp.hierarchy @model : "" {
  // CHECK-NEXT: htp.module @b : "" torch_nn calls 0
  // CHECK-NEXT: htp.module @b.fc : "" calls 3
  func.func @f(%x: f32) -> f32 {
    // CHECK: math.exp {{.*}}htp.tag = #htp.tag<"b.fc", call = 2, evidence = "location", confidence = {{[0-9.]+}}>
    %0 = math.exp %x : f32 loc(fused<{htp.call = 2 : i64, htp.scope = "b.fc"}>["e"])
    return %0 : f32
  }
}
