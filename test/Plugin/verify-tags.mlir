// --htp-verify-tags in a stock mlir-opt, on linalg, tosa and "onnx": what is
// right, what is counted, and what is an error.
// RUN: mlir-opt %s %load_htp --pass-pipeline='builtin.module(htp-verify-tags{report})' -split-input-file -verify-diagnostics -allow-unregistered-dialect

// The payload of a linalg op needs no tag of its own.

// expected-remark @below {{nodes 2, tagged 2, contaminated 0}}
module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @fc : "torch.nn.modules.linear.Linear" torch_nn
  }
  func.func @linalg(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = tensor.empty() {htp.tag = #htp.tag<"fc">} : tensor<4x4xf32>
    %0 = linalg.matmul {htp.tag = #htp.tag<"fc">} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

module {
  htp.hierarchy @Net : "demo.Net" {
    htp.module @act : "demo.Act"
  }
  func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+2 {{has no tag, expected one on every node}}
    // expected-note @+1 {{--htp-propagate-aux-tags tags what has no evidence of its own}}
    %0 = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.tanh %0 {htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module {
  // expected-note @+1 {{the nearest module of this tree is 'act'}}
  htp.hierarchy @Net : "demo.Net" {
    htp.module @act : "demo.Act"
  }
  func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{tag names the module 'act.nowhere', which is not in the tree}}
    %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act.nowhere">} : (tensor<4xf32>) -> tensor<4xf32>
    "onnx.Return"(%0) : (tensor<4xf32>) -> ()
  }
}
