// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's passes. This file is their documentation: docs/Passes.md is made from it.

#ifndef HTP_TRANSFORMS_PASSES_TD
#define HTP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HTPStrip : Pass<"htp-strip"> {
  let summary = "Remove everything that HTP added";
  let description = [{
    Removes the module tree (`htp.hierarchy`), all `htp.*` attributes of ops,
    arguments and results, and HTP's scopes in locations. A model that was
    tagged and stripped is the model as it was.

    ```mlir
    %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["Relu_1"])
    // becomes
    %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("Relu_1")
    ```
  }];
}

#endif // HTP_TRANSFORMS_PASSES_TD
