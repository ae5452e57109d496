// Which modules become functions, by each option. A layer holds an attention, which holds a linear layer of
// torch.nn; the second layer's is as the first's.
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline | FileCheck %s --check-prefix=DEFAULT
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=max-depth=1 | FileCheck %s --check-prefix=FLAT
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=min-ops=4 | FileCheck %s --check-prefix=FLAT
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=min-ops=5 | FileCheck %s --check-prefix=SIZE
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=torch-nn=true | FileCheck %s --check-prefix=TORCH
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=share=false | FileCheck %s --check-prefix=OWN
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline=classes=demo.Attention | FileCheck %s --check-prefix=CLASS
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline='modules=layer.1.**' | FileCheck %s --check-prefix=PATH
// RUN: htp-opt %s -allow-unregistered-dialect --htp-outline='classes=Linear modules=layer.1.**' | FileCheck %s --check-prefix=BOTH

// Functions are nested like modules. A class of torch.nn has no function of its own, nor has one op.
// DEFAULT: func.func @main
// DEFAULT-NEXT: call @Layer({{.*}}htp.tag = #htp.tag<"layer.0">
// DEFAULT-NEXT: call @Layer({{.*}}htp.tag = #htp.tag<"layer.1">
// DEFAULT-NEXT: return
// DEFAULT: func.func private @Attention
// DEFAULT-NEXT: "d.matmul"
// DEFAULT-NEXT: "d.bias"
// DEFAULT-NEXT: "d.relu"
// DEFAULT: func.func private @Layer
// DEFAULT-NEXT: call @Attention
// DEFAULT-NEXT: "d.add"
// DEFAULT-NOT: func.func

// What is deeper, or has fewer ops (those of submodules count), stays where it is called.
// FLAT: func.func @main
// FLAT-NEXT: call @Layer({{.*}}htp.tag = #htp.tag<"layer.0">
// FLAT-NEXT: call @Layer({{.*}}htp.tag = #htp.tag<"layer.1">
// FLAT: func.func private @Layer
// FLAT-NEXT: "d.matmul"
// FLAT-NEXT: "d.bias"
// FLAT-NEXT: "d.relu"
// FLAT-NEXT: "d.add"
// FLAT-NOT: func.func

// SIZE: func.func @main
// SIZE-NEXT: "d.matmul"
// SIZE-NOT: func.func

// TORCH: func.func private @Linear
// TORCH-NEXT: "d.matmul"
// TORCH-NEXT: "d.bias"
// TORCH-NEXT: return
// TORCH: func.func private @Attention
// TORCH-NEXT: call @Linear
// TORCH-NEXT: "d.relu"
// TORCH: func.func private @Layer
// TORCH-NOT: func.func

// OWN: func.func @main
// OWN-NEXT: call @Layer(
// OWN-NEXT: call @Layer_1(
// OWN-DAG: func.func private @Layer(
// OWN-DAG: func.func private @Layer_1(
// OWN-DAG: func.func private @Attention(
// OWN-DAG: func.func private @Attention_1(

// A class by its full name; what is around it stays.
// CLASS: func.func @main
// CLASS-NEXT: call @Attention
// CLASS-NEXT: "d.add"
// CLASS-NEXT: call @Attention
// CLASS-NEXT: "d.add"
// CLASS: func.func private @Attention
// CLASS-NOT: func.func

// PATH: func.func @main
// PATH-NEXT: "d.matmul"
// PATH-COUNT-3: "d.{{.*}}htp.tag = #htp.tag<"layer.0
// PATH-NEXT: call @Layer
// PATH-NEXT: return
// PATH: func.func private @Attention
// PATH: func.func private @Layer
// PATH-NEXT: call @Attention

// A class and a path: what is both. Whoever names a class of torch.nn gets it.
// BOTH: func.func @main
// BOTH-NEXT: "d.matmul"
// BOTH-COUNT-3: "d.{{.*}}htp.tag = #htp.tag<"layer.0
// BOTH-NEXT: call @Linear
// BOTH-NEXT: "d.relu"
// BOTH-NEXT: "d.add"
// BOTH: func.func private @Linear
// BOTH-NOT: func.func
htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.0.attention : "demo.Attention"
  htp.module @layer.0.attention.fc : "torch.nn.modules.linear.Linear" torch_nn
  htp.module @layer.0.act : "demo.Act"
  htp.module @layer.1 : "demo.Layer"
  htp.module @layer.1.attention : "demo.Attention"
  htp.module @layer.1.attention.fc : "torch.nn.modules.linear.Linear" torch_nn
  htp.module @layer.1.act : "demo.Act"
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "d.matmul"(%x) {htp.tag = #htp.tag<"layer.0.attention.fc">} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.bias"(%0) {htp.tag = #htp.tag<"layer.0.attention.fc">} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.relu"(%1) {htp.tag = #htp.tag<"layer.0.attention">} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.add"(%2, %x) {htp.tag = #htp.tag<"layer.0.act">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "d.matmul"(%3) {htp.tag = #htp.tag<"layer.1.attention.fc">} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "d.bias"(%4) {htp.tag = #htp.tag<"layer.1.attention.fc">} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = "d.relu"(%5) {htp.tag = #htp.tag<"layer.1.attention">} : (tensor<4xf32>) -> tensor<4xf32>
  %7 = "d.add"(%6, %3) {htp.tag = #htp.tag<"layer.1.act">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}
