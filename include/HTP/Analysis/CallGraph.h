// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions of a model call which. A call is an op that names its callee
// by a symbol (func.call), or an ONNX node whose domain, type and overload are
// those of a model-local function.

#ifndef HTP_ANALYSIS_CALLGRAPH_H
#define HTP_ANALYSIS_CALLGRAPH_H

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/GraphTraits.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>

namespace htp {

/// The calls between the functions of a module that have bodies.
class CallGraph {
public:
  struct Node;
  struct Call {
    mlir::Operation *op;
    Node *callee;
  };
  struct Node {
    /// Null for the artificial root, which stands for the caller of the model.
    mlir::FunctionOpInterface function;
    /// In body order.
    llvm::SmallVector<Call, 1> calls;
    llvm::SmallVector<mlir::Operation *, 1> callers;
  };

  explicit CallGraph(mlir::ModuleOp module);

  /// The function that `op` calls if the module defines it; otherwise null.
  mlir::FunctionOpInterface callee(mlir::Operation *op) const;

  /// The ops that call `function`.
  llvm::ArrayRef<mlir::Operation *>
  callers(mlir::FunctionOpInterface function) const;

  /// Functions that nothing calls: the entry points of the model.
  llvm::SmallVector<mlir::FunctionOpInterface> entries() const;

  /// Emits an error if an outlined module or a model-local function calls
  /// itself, directly or indirectly; with `any`, if any function does.
  mlir::LogicalResult checkRecursion(bool any = false) const;

  /// The artificial root, which calls every function: LLVM's graph algorithms
  /// need a single entry node.
  const Node *outside() const { return &root; }

private:
  llvm::MapVector<mlir::Operation *, std::unique_ptr<Node>> nodes;
  mlir::SymbolTable symbols;
  llvm::DenseMap<FunctionId, mlir::FunctionOpInterface> byName;
  Node root;
};

} // namespace htp

template <> struct llvm::GraphTraits<const htp::CallGraph *> {
  using NodeRef = const htp::CallGraph::Node *;
  static NodeRef calleeOf(const htp::CallGraph::Call &call) {
    return call.callee;
  }
  using ChildIteratorType =
      llvm::mapped_iterator<const htp::CallGraph::Call *,
                            NodeRef (*)(const htp::CallGraph::Call &)>;

  static NodeRef getEntryNode(const htp::CallGraph *graph) {
    return graph->outside();
  }
  static ChildIteratorType child_begin(NodeRef node) {
    return {node->calls.begin(), &calleeOf};
  }
  static ChildIteratorType child_end(NodeRef node) {
    return {node->calls.end(), &calleeOf};
  }
};

#endif // HTP_ANALYSIS_CALLGRAPH_H
