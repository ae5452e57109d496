// RUN: htp-opt %s --htp-spell-tags=torch-nn=true | FileCheck %s --check-prefixes=CHECK,LONG
// RUN: htp-opt %s --htp-spell-tags=torch-nn=true --htp-spell-tags | FileCheck %s --check-prefixes=CHECK,SHORT
// RUN: htp-opt %s --htp-spell-tags=torch-nn=true --op-metadata=- -o %t.mlir | FileCheck %s --check-prefix=WRITTEN-LONG
// RUN: htp-opt %s --torch-nn --op-metadata=- -o %t.mlir | FileCheck %s --check-prefix=WRITTEN-LONG
// RUN: htp-opt %s --op-metadata=- -o %t.mlir | FileCheck %s --check-prefix=WRITTEN

// The choice lies on the hierarchy; the tags of the IR are paths and stay as they are.

// LONG: htp.hierarchy @Net
// LONG-SAME: htp.torch_nn_tags
// SHORT-NOT: htp.torch_nn_tags
// CHECK: htp.module @block
htp.hierarchy @Net : "demo.Net" {
  htp.module @block : "demo.Block"
  htp.module @block.act : "torch.nn.modules.activation.ReLU" torch_nn
}

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: #htp.tag<"block.act"
  // WRITTEN-LONG: "op_type":"Relu",{{.*}}"tag":"/Net/Block/ReLU"
  // WRITTEN: "op_type":"Relu",{{.*}}"tag":"/Net/Block"
  %0 = "onnx.Relu"(%x) {onnx_node_name = "r", htp.tag = #htp.tag<"block.act">} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
