// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files whose nodes are not in topological order. The format asks for it and
// ONNX Runtime does not: its float16 converter appends the casts of the inputs
// at the end. Here they are sorted on import, each operation remembers its
// node's place, and export puts them back.

#ifndef HTP_LIB_TARGET_ONNX_NODEORDER_H
#define HTP_LIB_TARGET_ONNX_NODEORDER_H

#include "mlir/IR/Operation.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace htp {

using NodeProtos = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The place of an operation's node in a file that was not in order.
inline constexpr llvm::StringLiteral kPosition = "onnx.position";

/// The indices of the nodes in topological order, as close to the file's as can
/// be. Empty where the file's order will do, or where there is none (a cycle).
std::vector<int> sortNodes(const NodeProtos &nodes);

/// Moves `nodes`, made by `ops` one by one, to the places that all of `ops`
/// remember. Where some do not, they were made or changed here, and stay
/// sorted.
void restoreOrder(llvm::ArrayRef<mlir::Operation *> ops, NodeProtos &nodes);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_NODEORDER_H
