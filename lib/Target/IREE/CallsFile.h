// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main.mlir of a model that only calls its layers, in the dialect of IREE's
// virtual machine:
//
//   vm.module public @main {
//     vm.import private @Layer.Layer$async(%a0: !vm.ref<!hal.buffer_view>,
//         %wait: !vm.ref<!hal.fence>, %signal: …) -> !vm.ref<!hal.buffer_view>
//     vm.global.ref private mutable @w0 : !vm.ref<!hal.buffer_view>
//     vm.func private @main_graph(%arg0: …) -> … {
//       %w0 = vm.global.load.ref @w0 : !vm.ref<!hal.buffer_view>
//       %f0 = vm.call @hal.fence.create(%device, %flags) : …
//       %0 = vm.call @Layer.Layer$async(%arg0, %w0, %none, %f0) : …
//
// There is nothing to lower, so this compiles ten times as fast as calls on
// tensors, however many layers there are. It relies on IREE's ABI: layers take
// buffers and two fences, one to wait for and one to signal; and it uses four
// functions of the module `hal`.

#ifndef HTP_LIB_TARGET_IREE_CALLSFILE_H
#define HTP_LIB_TARGET_IREE_CALLSFILE_H

#include "Layers.h"
#include "TorchText.h"
#include "Weights.h"

namespace htp {

class CallsFile : public TorchText {
public:
  CallsFile(llvm::raw_ostream &os, bool locations, const LayeredModel &model,
            const Weights &weights);

  /// Whether the model's main function can be written this way.
  static bool fits(const LayeredModel &model, const Weights &weights);

  mlir::LogicalResult write();

private:
  mlir::LogicalResult checkTypes();
  void writeImports();
  void writeSetter();
  void writeEntry();
  void writeExport();
  void writeCall(mlir::func::CallOp call, const Layer &layer);
  void writeEnd();
  std::string writeFence();
  /// The fences to wait for until all of `values` are available.
  llvm::SmallVector<llvm::StringRef> fencesOf(mlir::ValueRange values) const;
  std::string writeJoined(llvm::ArrayRef<llvm::StringRef> fences);

  const LayeredModel &model;
  const Weights &weights;
  llvm::DenseMap<mlir::Operation *, const Layer *> layers; ///< by call
  llvm::DenseMap<mlir::Value, std::string> fences; ///< of the results of layers
  unsigned numFences = 0;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_CALLSFILE_H
