// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the nodes at the borders of module calls and between them.

#include "ExecutedValues.h"

#include "HTP/Analysis/CallGraph.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp;

namespace {

/// A call, in terms of the graph.
struct Run {
  ModuleCall where;
  int64_t parent = -1;
  unsigned depth = 0;
  SmallVector<Value, 2> takes, returns;
  bool open = false, partly = false;
  bool isNear = false; ///< one of its borders is not quite equal
  bool known = false;  ///< the nodes inside it are known
};

/// Places the nodes of one function.
class Placement {
public:
  Placement(FunctionOpInterface function, const Executed &executed,
            ArrayRef<ModuleId> modules, DenseMap<Operation *, Claim> &claims);
  void run();

private:
  void indexValues(FunctionOpInterface function);
  void indexCalls(const Executed &executed, ArrayRef<ModuleId> modules);
  SmallVector<Value> readBy(Operation *op) const;
  bool isOnlySize(Operation *op) const;
  bool isAround(int64_t outer, int64_t call) const;
  bool findInside(int64_t call, DenseSet<Operation *> &inside) const;
  bool leaks(Operation *op, const Run &call,
             const DenseSet<Operation *> &inside) const;
  void hold(Operation *op, int64_t call);
  void claimBorders();
  void claimInsides();
  void claimEnds();

  Block &body;
  DenseMap<Operation *, Claim> &claims;
  llvm::StringMap<Value> values;
  /// Values that depend on an input of the function, and those among them that
  /// depend only on the sizes of one.
  DenseSet<Value> varying, sizes;
  DenseSet<Value> unclear;
  std::vector<Run> calls;
  /// The innermost call around each node; -1 if several unrelated ones are.
  DenseMap<Operation *, int64_t> holders;
  DenseSet<Operation *> leaking;
};

} // namespace

Placement::Placement(FunctionOpInterface function, const Executed &executed,
                     ArrayRef<ModuleId> modules,
                     DenseMap<Operation *, Claim> &claims)
    : body(function.getFunctionBody().front()), claims(claims) {
  indexValues(function);
  indexCalls(executed, modules);
  for (const std::string &name : executed.unclear)
    if (Value value = values.lookup(name))
      unclear.insert(value);
}

/// The values from outside of it that a node reads, also in its bodies.
SmallVector<Value> Placement::readBy(Operation *op) const {
  SmallVector<Value> found(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &body)
          found.push_back(operand);
    });
  return found;
}

/// Whether a node computes only with sizes. PyTorch's modules hand those on as
/// numbers, which are not seen when they are called.
bool Placement::isOnlySize(Operation *op) const {
  return op->getNumResults() &&
         llvm::all_of(op->getResults(),
                      [&](Value value) { return sizes.contains(value); });
}

void Placement::indexValues(FunctionOpInterface function) {
  for (Value argument : function.getArguments()) {
    values[getValueName(argument)] = argument;
    varying.insert(argument);
  }
  for (Operation &op : body) {
    if (!isNode(&op))
      continue;
    SmallVector<Value> read = readBy(&op);
    bool varies = false, onlySizes = true;
    for (Value value : read)
      if (varying.contains(value)) {
        varies = true;
        onlySizes &= sizes.contains(value);
      }
    onlySizes |= getOpType(&op) == "Shape" || getOpType(&op) == "Size";
    for (Value result : op.getResults()) {
      values[getValueName(result)] = result;
      if (!varies)
        continue;
      varying.insert(result);
      if (onlySizes)
        sizes.insert(result);
    }
  }
}

void Placement::indexCalls(const Executed &executed,
                           ArrayRef<ModuleId> modules) {
  llvm::StringSet<> near;
  for (const ExecutedCall &call : executed.calls)
    near.insert_range(call.near);
  for (const ExecutedCall &from : executed.calls) {
    Run call;
    call.where = {modules[from.module], from.call};
    call.parent = from.parent;
    call.depth = from.parent < 0 ? 0 : calls[from.parent].depth + 1;
    call.open = from.open;
    call.partly = from.partly;
    auto find = [&](ArrayRef<std::string> names, SmallVector<Value, 2> &found) {
      for (const std::string &name : names) {
        call.isNear |= near.contains(name);
        if (Value value = values.lookup(name))
          found.push_back(value);
      }
    };
    find(from.takes, call.takes);
    find(from.returns, call.returns);
    call.partly |= call.returns.size() < from.returns.size();
    calls.push_back(std::move(call));
  }
}

bool Placement::isAround(int64_t outer, int64_t call) const {
  while (call >= 0 && calls[call].depth > calls[outer].depth)
    call = calls[call].parent;
  return call == outer;
}

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

void Placement::claimBorders() {
  llvm::MapVector<Value, int64_t> innermost;
  for (auto [number, call] : llvm::enumerate(calls))
    for (Value value : call.returns) {
      auto [known, isNew] = innermost.try_emplace(value, number);
      if (!isNew && calls[known->second].depth < call.depth)
        known->second = number;
    }
  for (auto [value, number] : innermost) {
    Operation *op = value.getDefiningOp();
    // A node that was fused of several may return what the first of them made
    // as well, as a further result. It belongs to the last.
    if (op && isForeign(op) && value != op->getResult(0))
      continue;
    const Run &call = calls[number];
    // A call may run in the body of an If: then the node is not in the call,
    // but the call in the node. What only changes an encoding makes nothing.
    if (!op || op->getNumRegions() || !varying.contains(value) ||
        getOpType(op).ends_with("QuantizeLinear") ||
        getOpType(op).ends_with("DequantizeLinear"))
      continue;
    // A convolution that absorbed the norm after it makes what the norm
    // returned, and is still the convolution.
    if (call.open && isConvolution(op))
      continue;
    if (call.open)
      claims.insert({op,
                     {call.where, Ground::ExecutedFused,
                      "makes what the module returned when it ran, perhaps "
                      "with what ran before"}});
    else if (call.isNear)
      claims.insert({op,
                     {call.where, Ground::ExecutedNear,
                      "makes the value nearest to what the module returned "
                      "when it ran"}});
    else
      claims.insert({op,
                     {call.where, Ground::ExecutedResult,
                      "makes what the module returned when it ran"}});
  }
}

//===----------------------------------------------------------------------===//
// Insides
//===----------------------------------------------------------------------===//

/// Collects the nodes between what a call took and what it returned. Returns
/// whether they are known: every way back from a result ends at something that
/// the call took, or at a constant.
bool Placement::findInside(int64_t number,
                           DenseSet<Operation *> &inside) const {
  const Run &call = calls[number];
  if (call.open || call.returns.empty())
    return false;
  DenseSet<Value> stops(call.takes.begin(), call.takes.end());
  SmallVector<Value> pending;
  llvm::copy_if(call.returns, std::back_inserter(pending),
                [&](Value value) { return !stops.contains(value); });
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op)
      return false; // an input of the graph that the call did not take
    if (!inside.insert(op).second)
      continue;
    for (Value value : readBy(op))
      if (varying.contains(value) && !sizes.contains(value) &&
          !stops.contains(value))
        pending.push_back(value);
  }
  return true;
}

/// Whether others than the call read what a node inside it makes: an exporter
/// that computes equal things once took one of them away, here or there.
bool Placement::leaks(Operation *op, const Run &call,
                      const DenseSet<Operation *> &inside) const {
  for (Value result : op->getResults()) {
    if (llvm::is_contained(call.returns, result))
      continue;
    for (Operation *user : result.getUsers()) {
      Operation *reader = body.findAncestorOpInBlock(*user);
      if (!inside.contains(reader) && !isOnlySize(reader))
        return true;
    }
  }
  return false;
}

void Placement::hold(Operation *op, int64_t call) {
  auto [holder, isNew] = holders.try_emplace(op, call);
  if (isNew || holder->second < 0 || isAround(call, holder->second))
    return;
  holder->second = isAround(holder->second, call) ? call : -1;
}

void Placement::claimInsides() {
  for (int64_t number = 0, end = calls.size(); number < end; ++number) {
    DenseSet<Operation *> inside;
    calls[number].known = findInside(number, inside);
    if (!calls[number].known)
      continue;
    for (Operation *op : inside) {
      hold(op, number);
      if (leaks(op, calls[number], inside))
        leaking.insert(op);
    }
  }
  // A call may make another one whose nodes are not known, or not all of them;
  // then any node inside it may be the other one's.
  llvm::BitVector hides(calls.size());
  for (const Run &call : calls)
    if (call.parent >= 0 && (!call.known || call.partly))
      hides.set(call.parent);
  for (auto [op, number] : holders) {
    if (number < 0 || hides.test(number) || leaking.contains(op) ||
        isOnlySize(op) ||
        llvm::any_of(
            op->getResults(),
            [&](Value value) { return unclear.contains(value); }))
      continue;
    const Run &call = calls[number];
    claims.insert(
        {op,
         {call.where,
          call.isNear ? Ground::ExecutedInsideNear : Ground::ExecutedInside,
          "lies between what the module took and what it returned when it "
          "ran"}});
  }
}

/// A copy that only the user of the model reads (a result in another type)
/// belongs to the maker of what it copies.
void Placement::claimEnds() {
  for (Operation &op : body) {
    if (op.getNumResults() != 1 || !op.getNumOperands() ||
        !unclear.contains(op.getResult(0)) ||
        !llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user == body.getTerminator();
        }))
      continue;
    Operation *maker = op.getOperand(0).getDefiningOp();
    if (auto made = claims.find(maker); made != claims.end()) {
      Claim claim = made->second;
      claims.insert({&op, claim});
    }
  }
}

void Placement::run() {
  claimBorders();
  claimInsides();
  claimEnds();
}

llvm::Expected<ExecutedValues> ExecutedValues::create(mlir::ModuleOp module,
                                                      const Executed &executed,
                                                      const ModuleTree &tree) {
  std::vector<ModuleId> modules(executed.tree.size());
  for (const ExecutedCall &call : executed.calls) {
    const Module &ran = executed.tree[call.module];
    std::optional<ModuleId> id = tree.resolve(ran.path);
    if (!id)
      return llvm::createStringError("module '" + ran.path +
                                     "' ran, but the model's tree has no such "
                                     "module: the tree is of another model");
    if (call.call >= tree[*id].calls)
      return llvm::createStringError(
          "call " + std::to_string(call.call) + " of module '" + ran.path +
          "' ran, but the model's tree has only " +
          std::to_string(tree[*id].calls) +
          " of it: the tree is of another model, or of another call");
    modules[call.module] = *id;
  }
  ExecutedValues result;
  for (FunctionOpInterface function : CallGraph(module).entries())
    if (!function.isExternal())
      Placement(function, executed, modules, result.claims).run();
  return result;
}
