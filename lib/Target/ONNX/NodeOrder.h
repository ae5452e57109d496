// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles files whose nodes are not in topological order. The format requires
// it, but ONNX Runtime does not, and its float16 converter appends the casts of
// inputs at the end. Nodes are sorted on import, each operation records its
// node's position, and export restores it.

#ifndef HTP_LIB_TARGET_ONNX_NODEORDER_H
#define HTP_LIB_TARGET_ONNX_NODEORDER_H

#include "mlir/IR/Operation.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace htp {

using NodeProtos = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The position of an operation's node in a file that was not sorted.
inline constexpr llvm::StringLiteral kPosition = "onnx.position";

/// The indices of the nodes in topological order, as close to the file's order
/// as possible. Empty if the file is sorted, or if there is a cycle.
std::vector<int> sortNodes(const NodeProtos &nodes);

/// Moves `nodes`, exported from `ops` one by one, to the positions recorded on
/// `ops`. If any op has none, the graph was changed, and nodes stay sorted.
void restoreOrder(llvm::ArrayRef<mlir::Operation *> ops, NodeProtos &nodes);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_NODEORDER_H
