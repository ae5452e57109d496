// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main.mlir: the model around its layers, where it does more than to call them
// (otherwise: CallsFile).
//
//   util.func private @Layer.Layer$async(%a0: tensor<2x4xf32>,
//       %a1: !hal.buffer_view) -> tensor<2x4xf32> attributes {…}
//   util.global private mutable @w0 : !hal.buffer_view
//   util.func public @set_weights(%w0: !hal.buffer_view) { … }
//   func.func @main_graph(%arg0: !torch.vtensor<[2,4],f32>) -> … {
//     %w0 = util.global.load @w0 : !hal.buffer_view
//     %0 = torch_c.to_builtin_tensor %arg0 : … -> tensor<2x4xf32>
//     %1 = util.call @Layer.Layer$async(%0, %w0) : …
//
// What IREE 3.13 asks for: an import is a util.func (one of torch types is not
// legalized), layers run asynchronously (`$async` with fences, or every call
// waits), and weights are buffers (a tensor is copied at each call).

#ifndef HTP_LIB_TARGET_IREE_MAINFILE_H
#define HTP_LIB_TARGET_IREE_MAINFILE_H

#include "Layers.h"
#include "TorchText.h"
#include "Weights.h"

namespace htp {

class MainFile : public TorchText {
public:
  MainFile(llvm::raw_ostream &os, bool locations, const LayeredModel &model,
           const Weights &weights);

  mlir::LogicalResult write();

private:
  mlir::LogicalResult writeImport(const Layer &layer);
  void writeSetter();
  void writeStart() override;
  mlir::LogicalResult writeOp(mlir::Operation *op) override;
  mlir::LogicalResult writeWeight(mlir::Value constant, unsigned number);
  mlir::LogicalResult writeCall(mlir::func::CallOp call, const Layer &layer);
  mlir::FailureOr<std::string> asBuiltin(mlir::Value value);

  const LayeredModel &model;
  const Weights &weights;
  llvm::DenseMap<mlir::Operation *, const Layer *> layers; ///< by call
  /// Values as builtin tensors, where a layer made or read one.
  llvm::DenseMap<mlir::Value, std::string> builtin;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_MAINFILE_H
