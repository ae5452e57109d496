// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of operators as the tagging algorithms see it: without dialects and
// types, reduced to what helps to tell where an operator came from. Strings are
// owned by the builder of the graph.

#ifndef HTP_ALIGNMENT_GRAPH_H
#define HTP_ALIGNMENT_GRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace htp {

/// The kind of a tensor's elements, to distinguish shape arithmetic from data.
enum class ElementKind : uint8_t { Unknown, Float, Integer, Bool };

/// The contents of a constant: enough to find it among a model's parameters.
struct TensorContent {
  /// Order-free fingerprint of the values (Fingerprint.h); 0: not known.
  uint64_t values = 0;
  int64_t elements = 0;
  llvm::SmallVector<int64_t, 4> shape;
  ElementKind kind = ElementKind::Unknown;
  /// The size of an element in bits; 0: unknown.
  unsigned bits = 0;
  /// The parameters of the program that this constant was recognised as by
  /// their sketches. There are several if the parameters are equal, or if they
  /// are packed into this one constant.
  llvm::SmallVector<int32_t, 1> parameters = {};
  bool packed = false;
};

/// A value: the result of a node, a graph input, or a constant.
struct GraphValue {
  llvm::StringRef name;
  /// The node that produces it; -1 for graph inputs and constants.
  int32_t producer = -1;
  /// Index into Graph::constants; -1 for computed values.
  int32_t constant = -1;
  ElementKind kind = ElementKind::Unknown;
  /// The size of an element in bits; 0: unknown.
  unsigned bits = 0;
  bool hasShape = false;
  /// Dimensions; -1 if unknown.
  llvm::SmallVector<int64_t, 4> shape;
};

/// What is known about a node beforehand. The module is an index that only the
/// caller can interpret; -1 means unknown.
struct Prior {
  int32_t module = -1;
  int32_t call = -1;
  /// Overruled by the node's parameters.
  bool weak = false;
};

struct GraphNode {
  llvm::StringRef op;
  llvm::StringRef name;
  llvm::SmallVector<int32_t, 4> inputs;
  llvm::SmallVector<int32_t, 2> outputs;
  /// The activation that an optimizer fused into the op; empty if none.
  llvm::StringRef activation;
  /// Whether a fused product also scales its result.
  bool scales = false;
  Prior prior;
};

/// Nodes are in topological order. Constants are values, not nodes.
struct Graph {
  std::vector<GraphNode> nodes;
  std::vector<GraphValue> values;
  std::vector<TensorContent> constants;
  /// The values that the graph takes and returns.
  std::vector<int32_t> inputs, outputs;
};

} // namespace htp

#endif // HTP_ALIGNMENT_GRAPH_H
