// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a function of any dialect into a plain graph for the algorithms of
// lib/Alignment. Only plain attributes are read (see Nodes.h).

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_MODELGRAPH_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_MODELGRAPH_H

#include "HTP/Alignment/Graph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace htp {

/// The graph of one function. Bodies of nodes (If, Loop, Scan) are part of it:
/// their nodes come before the node that holds them. Constants are values. An
/// operation that only copies a tensor or changes its encoding (Identity of a
/// constant, QuantizeLinear, DequantizeLinear) is not in the graph: its readers
/// read its operand instead. Computations of quantization scales are left out
/// as well.
struct ModelGraph {
  /// `sizes`: the element counts of the tensors whose contents matter. Other
  /// tensors are not read.
  ModelGraph(mlir::FunctionOpInterface function,
             const llvm::DenseSet<int64_t> &sizes);

  Graph graph;
  /// The operation of each node, and the value of each constant.
  std::vector<mlir::Operation *> operations;
  std::vector<mlir::Value> constants;
  /// Operations that convert a node's quantized result back to floats, with the
  /// node that each belongs to.
  std::vector<std::pair<mlir::Operation *, int32_t>> ends;
  llvm::DenseMap<mlir::Operation *, int32_t> nodeOf;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_MODELGRAPH_H
