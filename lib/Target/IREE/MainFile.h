// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main.mlir of a model that does more than call its layers (see CallsFile for
// the other kind).
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
// Required by IREE 3.13: imports are util.funcs (torch types in them are not
// legalized), layers run asynchronously (`$async` with fences; otherwise every
// call would block), and weights are buffers (a tensor would be copied at each
// call).

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
  /// Values that a layer reads or produces, as builtin tensors.
  llvm::DenseMap<mlir::Value, std::string> builtin;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_MAINFILE_H
