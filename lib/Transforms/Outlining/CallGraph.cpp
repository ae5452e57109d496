// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallGraph.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace htp {

namespace {

class CallGraph {
public:
  explicit CallGraph(mlir::ModuleOp module);

  LogicalResult checkRecursion();

private:
  struct Call {
    Operation *op;
    func::FuncOp callee;
  };
  enum class State { New, Open, Done };
  struct Node {
    SmallVector<Call> calls;
    State state = State::New;
  };

  func::FuncOp calleeOf(Operation *op) const;
  LogicalResult visitFrom(func::FuncOp start);
  static LogicalResult report(Call call, func::FuncOp caller);

  llvm::DenseMap<Attribute, func::FuncOp> bySymbol;
  /// The local functions of an ONNX model, by domain and name.
  llvm::DenseMap<std::pair<Attribute, Attribute>, func::FuncOp> byName;
  llvm::MapVector<func::FuncOp, Node> nodes;
};

} // namespace

CallGraph::CallGraph(mlir::ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    Attribute domain = function->getAttr("onnx.function_domain");
    if (function.isExternal() || !(domain || function->hasAttr(kModuleAttr)))
      continue;
    nodes[function];
    bySymbol[function.getSymNameAttr()] = function;
    if (Attribute name = function->getAttr("onnx.function_name");
        name && domain)
      byName[{domain, name}] = function;
  }
  for (auto &[function, node] : nodes)
    func::FuncOp(function).walk([&, &calls = node.calls](Operation *op) {
      if (func::FuncOp callee = calleeOf(op))
        calls.push_back({op, callee});
    });
}

func::FuncOp CallGraph::calleeOf(Operation *op) const {
  if (auto call = dyn_cast<func::CallOp>(op))
    return bySymbol.lookup(call.getCalleeAttr().getRootReference());
  Attribute domain = op->getAttr("domain_name");
  Attribute name = op->getAttr("function_name");
  return domain && name ? byName.lookup({domain, name}) : func::FuncOp();
}

/// Depth first, without recursion: a chain of calls may be long.
LogicalResult CallGraph::visitFrom(func::FuncOp start) {
  SmallVector<std::pair<func::FuncOp, size_t>> stack;
  auto enter = [&](func::FuncOp function) {
    nodes[function].state = State::Open;
    stack.push_back({function, 0});
  };
  enter(start);
  while (!stack.empty()) {
    auto &[function, next] = stack.back();
    Node &node = nodes[function];
    if (next == node.calls.size()) {
      node.state = State::Done;
      stack.pop_back();
      continue;
    }
    Call call = node.calls[next++];
    State state = nodes[call.callee].state;
    if (state == State::Open)
      return report(call, function);
    if (state == State::New)
      enter(call.callee);
  }
  return success();
}

/// `call`, in `caller`, closes a circle.
LogicalResult CallGraph::report(Call call, func::FuncOp caller) {
  InFlightDiagnostic error = call.op->emitError("function '@")
                             << call.callee.getSymName() << "' calls itself";
  if (caller != call.callee)
    error << " through '@" << caller.getSymName() << "'";
  error << ", which neither a module nor an ONNX function may";
  error.attachNote(call.callee.getLoc()) << "the function is here";
  return error;
}

LogicalResult CallGraph::checkRecursion() {
  for (auto &[function, node] : nodes)
    if (node.state == State::New && failed(visitFrom(function)))
      return failure();
  return success();
}

LogicalResult checkRecursion(mlir::ModuleOp module) {
  return CallGraph(module).checkRecursion();
}

} // namespace htp
