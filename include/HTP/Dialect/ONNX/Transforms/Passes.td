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
    Exporters compute sizes in the graph: `Shape`, `Gather`, `Where`,
    `ConstantOfShape` and `Expand` of a model whose sizes are all fixed. ONNX's
    inference follows a part of this and gives up at the rest, and what it does
    not know goes into the signatures of outlined functions, where no compiler
    can find it any more.

    This pass follows integers through such ops (up to 4,096 of them, some of
    which may stay unknown), and asks ONNX for the types of the others with what
    it then knows. Only types change: the ops stay, and so does everything that
    is written to an ONNX file but types.

    ```mlir
    %shape = "onnx.Shape"(%x) : (tensor<1x16xi64>) -> tensor<2xi64>
    %size = "onnx.Where"(%c, %ones, %shape) : … -> tensor<2xi64>
    %y = "onnx.Expand"(%v, %size) : (tensor<1x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    // becomes
    %y = "onnx.Expand"(%v, %size) : (tensor<1x16xf32>, tensor<2xi64>) -> tensor<1x16xf32>
    ```

    `dims` gives sizes to dimensions of the model's inputs that are open, by
    their names (`dims=batch=1,length=128`), or by input and axis where they
    have none (`dims=input_ids.1=128`). A name that no input has is an error.

    Run it before `--htp-outline`: functions that are called stay as they are,
    and so do the values that they take, and the bodies of `If`, `Loop` and
    `Scan`.
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
