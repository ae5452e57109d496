// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's own shape inference, on a copy of a model and within bounds.

#ifndef HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
#define HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H

#include "mlir/IR/Location.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Parallel.h"

#include <google/protobuf/arena.h>

namespace htp {

/// Infers the types of a model's graph, on a thread of its own where there may
/// be one: it makes no attributes.
class TypeInference {
public:
  /// Begins. `order` is that of the nodes where the file's will not do
  /// (sortNodes); both arguments outlive this.
  TypeInference(const ::onnx::ModelProto &model, llvm::ArrayRef<int> order);

  /// Waits for the graph with the types that ONNX infers, which lives as long
  /// as this. Where inference fails, or has nothing to add, it is the model's
  /// own. Remarks at `loc` say what failed, and which part would have had no
  /// end and was left out.
  const ::onnx::GraphProto &get(mlir::Location loc);

private:
  void run(llvm::ArrayRef<int> order);
  void copyModel(llvm::ArrayRef<int> order, ::onnx::ModelProto &copy);

  const ::onnx::ModelProto &model;
  const ::onnx::GraphProto *graph; ///< what get() returns
  google::protobuf::Arena arena;
  llvm::SmallVector<std::string, 1> remarks;
  llvm::parallel::TaskGroup group; ///< the last member: it ends first
};

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
