// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the call graph and finds cycles in it.

#include "HTP/Analysis/CallGraph.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;

namespace htp {

/// Whether recursion of this function is always an error: ONNX forbids it for
/// model-local functions, and outlined modules are never recursive.
static bool mustNotRecurse(FunctionOpInterface function) {
  return function->hasAttr(kModuleAttr) ||
         function->hasAttr("onnx.function_domain");
}

CallGraph::CallGraph(mlir::ModuleOp module) : symbols(module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    nodes[function] = std::make_unique<Node>();
    nodes[function]->function = function;
    if (FunctionId id = functionId(function); std::get<1>(id))
      byName[id] = function;
  }
  for (auto &[function, node] : nodes) {
    root.calls.push_back({nullptr, node.get()});
    function->walk([&, &calls = node->calls](Operation *op) {
      if (FunctionOpInterface called = callee(op)) {
        Node *to = nodes.find(called)->second.get();
        calls.push_back({op, to});
        to->callers.push_back(op);
      }
    });
  }
}

FunctionOpInterface CallGraph::callee(Operation *op) const {
  FunctionOpInterface function;
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto symbol =
        dyn_cast_if_present<SymbolRefAttr>(call.getCallableForCallee());
    if (symbol)
      function = symbols.lookup<FunctionOpInterface>(symbol.getLeafReference());
  } else if (!byName.empty()) {
    if (FunctionId id = calledFunctionId(op); std::get<1>(id))
      function = byName.lookup(id);
  }
  return function && nodes.contains(function) ? function
                                              : FunctionOpInterface();
}

ArrayRef<Operation *> CallGraph::callers(FunctionOpInterface function) const {
  auto node = nodes.find(function);
  return node == nodes.end() ? ArrayRef<Operation *>()
                             : ArrayRef(node->second->callers);
}

SmallVector<FunctionOpInterface> CallGraph::entries() const {
  SmallVector<FunctionOpInterface> entries;
  for (auto &[function, node] : nodes)
    if (node->callers.empty())
      entries.push_back(node->function);
  return entries;
}

static StringRef nameOf(const CallGraph::Node *node) {
  return FunctionOpInterface(node->function).getName();
}

/// Reports one error at a call that closes the cycle, with one note per
/// function.
static LogicalResult reportCircle(ArrayRef<const CallGraph::Node *> circle) {
  // scc_iterator lists callees before callers.
  const CallGraph::Node *caller = circle.front();
  const auto *call =
      llvm::find_if(caller->calls, [&](const CallGraph::Call &call) {
        return llvm::is_contained(circle, call.callee);
      });
  assert(call != caller->calls.end() && "a circle without an edge");
  InFlightDiagnostic error = call->op->emitError("function '@")
                             << nameOf(call->callee) << "' calls itself";
  if (call->callee != caller)
    error << " through '@" << nameOf(caller) << "'";
  error << ", which neither a module nor an ONNX function may";
  for (const CallGraph::Node *node : llvm::reverse(circle))
    error.attachNote(FunctionOpInterface(node->function).getLoc())
        << "'@" << nameOf(node) << "' is here";
  return error;
}

LogicalResult CallGraph::checkRecursion(bool any) const {
  auto matters = [&](const Node *node) {
    return any || mustNotRecurse(node->function);
  };
  for (auto scc = llvm::scc_begin(this); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle() && llvm::any_of(*scc, matters))
      return reportCircle(*scc);
  return success();
}

} // namespace htp
