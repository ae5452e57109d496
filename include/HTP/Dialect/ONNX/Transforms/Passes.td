// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes over ONNX operators. This file is their documentation: docs/Passes.md
// is made from it.

#ifndef HTP_DIALECT_ONNX_TRANSFORMS_PASSES_TD
#define HTP_DIALECT_ONNX_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ONNXInferShapes : Pass<"onnx-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Find the sizes that ONNX's own inference leaves open";
  let description = [{
    Exporters compute sizes in the graph (`Shape`, `Gather`, `Where`,
    `ConstantOfShape`, `Expand`), even if all sizes of the model are static.
    ONNX's shape inference follows only some of this, and a size it cannot infer
    ends up dynamic in the signatures of outlined functions, where a compiler
    can no longer recover it.

    This pass propagates integer tensors through such ops (up to 4,096 elements,
    some of which may stay unknown) and passes the known values to ONNX's
    inference for all other ops. Only types change: the ops stay, and an
    exported ONNX file differs only in its types.

    ```mlir
    %shape = "onnx.Shape"(%x) : (tensor<1x16xi64>) -> tensor<2xi64>
    %size = "onnx.Where"(%c, %ones, %shape) : … -> tensor<2xi64>
    %y = "onnx.Expand"(%v, %size) : (tensor<1x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    // becomes
    %y = "onnx.Expand"(%v, %size) : (tensor<1x16xf32>, tensor<2xi64>) -> tensor<1x16xf32>
    ```

    `dims` sets the size of dynamic dimensions of the model's inputs, by name
    (`dims=batch=1,length=128`) or, for unnamed ones, by input and axis
    (`dims=input_ids.1=128`). A name that no input has is an error.

    Run it before `--htp-outline`: functions that are called, the values passed
    to them, and the bodies of `If`, `Loop` and `Scan` are left alone.
  }];
  let options = [
    ListOption<"dims", "dims", "std::string",
               "Sizes of open dimensions of the inputs: name=size, or "
               "input.axis=size">,
  ];
  let statistics = [
    Statistic<"numRefined", "refined", "Values whose type became more exact">,
  ];
  let dependentDialects = ["::htp::onnx::ONNXDialect"];
}

#endif // HTP_DIALECT_ONNX_TRANSFORMS_PASSES_TD
