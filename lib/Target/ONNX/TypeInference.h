// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ONNX's shape inference on a copy of a model, within bounds on time and
// memory.

#ifndef HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
#define HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H

#include "mlir/IR/Location.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Parallel.h"

#include <google/protobuf/arena.h>

namespace htp {

/// Infers the types of a model's graph, on a separate thread if threads are
/// enabled. Creates no attributes.
class TypeInference {
public:
  /// Starts inference. `order` is the order of nodes if the file is not sorted
  /// (sortNodes). Both arguments must outlive this object.
  TypeInference(const ::onnx::ModelProto &model, llvm::ArrayRef<int> order);

  /// Waits for the result: a graph with inferred types, owned by this object,
  /// or the model's own graph if inference failed or had nothing to add.
  /// Remarks at `loc` say what failed and which part was skipped as too
  /// expensive.
  const ::onnx::GraphProto &get(mlir::Location loc);

private:
  void run(llvm::ArrayRef<int> order);
  void copyModel(llvm::ArrayRef<int> order, ::onnx::ModelProto &copy);

  const ::onnx::ModelProto &model;
  const ::onnx::GraphProto *graph; ///< what get() returns
  google::protobuf::Arena arena;
  llvm::SmallVector<std::string, 1> remarks;
  /// Last member, so that it is destroyed (and waited for) first.
  llvm::parallel::TaskGroup group;
};

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
