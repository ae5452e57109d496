// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tags into module calls, relates call numbers of nested modules, and
// builds the dataflow of a block.

#include "ModuleCalls.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#include <cassert>

#define DEBUG_TYPE "htp-outline"

using namespace mlir;

namespace htp {

std::string callName(StringRef path, int64_t call) {
  return call ? (path + ":" + Twine(call)).str() : path.str();
}

//===----------------------------------------------------------------------===//
// CallNumbers
//===----------------------------------------------------------------------===//

CallNumbers::CallNumbers(const ModuleTree &tree, ArrayRef<ModuleCall> seen)
    : calls(tree.size(), 1) {
  std::vector<bool> hasOps(tree.size(), false);
  for (ModuleId id : tree.ids())
    calls[id] = std::max<int64_t>(1, tree[id].calls);
  for (ModuleCall call : seen) {
    calls[call.module] = std::max(calls[call.module], call.call + 1);
    hasOps[call.module] = true;
  }
  // In a tree that does not come from a trace, the number of calls of a module
  // without own ops is unknown and assumed to be 1. If modules above and below
  // it are called more often, so is it.
  std::vector<int64_t> below(calls);
  std::vector<ModuleId> byDepth(tree.ids().begin(), tree.ids().end());
  llvm::sort(byDepth, [&](ModuleId a, ModuleId b) {
    return tree[a].depth < tree[b].depth;
  });
  for (ModuleId id : llvm::reverse(byDepth))
    below[tree[id].parent] = std::max(below[tree[id].parent], below[id]);
  for (ModuleId id : byDepth)
    if (int64_t above = calls[tree[id].parent];
        !hasOps[id] && calls[id] < above && below[id] >= above)
      calls[id] = above;
}

int64_t CallNumbers::callOf(ModuleId ancestor, ModuleCall inner) const {
  assert(ancestor < calls.size() && inner.module < calls.size() &&
         "no such module in this tree");
  return inner.call * calls[ancestor] / calls[inner.module];
}

int64_t CallNumbers::firstCall(ModuleCall outer, ModuleId inner) const {
  assert(outer.module < calls.size() && inner < calls.size() &&
         "no such module in this tree");
  return outer.call * calls[inner] / calls[outer.module];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<ModuleCall> readModuleCall(Operation *op, PathAttrs &paths) {
  const ModuleTree &tree = paths.getTree();
  if (TagAttr tag = getTag(op)) {
    std::optional<ModuleId> module = paths.find(tag.getPathAttr());
    return ModuleCall{module ? *module : tree.nearest(tag.getPath()),
                      tag.getCall()};
  }
  SmallVector<Scope, 1> scopes = findScopes(op->getLoc());
  if (scopes.empty())
    return std::nullopt;
  ModuleCall call{tree.nearest(scopes.front().path), scopes.front().call};
  for (const Scope &scope : ArrayRef(scopes).drop_front())
    call.module =
        tree.lowestCommonAncestor(call.module, tree.nearest(scope.path));
  // Call numbers of different modules are not comparable.
  if (scopes.size() > 1) {
    LDBG(2) << op->getName() << " was made of ops of " << scopes.size()
            << " modules: counts as '" << tree[call.module].path << "'";
    call.call = 0;
  }
  return call;
}

/// The path in HTP's parameter attribute of a weight (an op, or an argument of
/// the model); empty if it has none.
static StringRef markedPath(Value value) {
  StringAttr path;
  if (Operation *op = value.getDefiningOp()) {
    path = op->getAttrOfType<StringAttr>(kParameterAttr);
  } else {
    auto argument = cast<BlockArgument>(value);
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(
            argument.getOwner()->getParentOp()))
      path = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   kParameterAttr);
  }
  return path ? path.getValue() : StringRef();
}

/// The value that `op` just copies, or null.
static Value copiedValue(Operation *op) {
  bool copies = op->getNumOperands() == 1 && op->getNumResults() == 1 &&
                getOpType(op).equals_insensitive("identity");
  return copies ? op->getOperand(0) : Value();
}

bool isParameter(Value value) {
  while (value) {
    Operation *op = value.getDefiningOp();
    if (!markedPath(value).empty() || (op && isInitializer(op)))
      return true;
    value = op ? copiedValue(op) : Value();
  }
  return false;
}

bool isParameter(Operation *op) {
  return op->getNumResults() == 1 && isParameter(op->getResult(0));
}

StringRef parameterPath(Value value, const ModuleTree &tree) {
  while (value) {
    if (StringRef path = markedPath(value); !path.empty())
      return path;
    // A copy is named after the parameter that it stands for.
    if (StringRef name = getValueName(value); tree.findParameter(name))
      return name;
    Operation *op = value.getDefiningOp();
    value = op ? copiedValue(op) : Value();
  }
  return {};
}

/// Whether the op has side effects and so must stay in order with others that
/// do. An op of unknown effects counts as pure unless it has memref operands or
/// results.
static bool hasEffects(Operation *op) {
  if (auto effects = getEffectsRecursively(op))
    return !effects->empty();
  auto isMemory = [](Type type) { return isa<BaseMemRefType>(type); };
  return llvm::any_of(op->getOperandTypes(), isMemory) ||
         llvm::any_of(op->getResultTypes(), isMemory);
}

//===----------------------------------------------------------------------===//
// TaggedBlock
//===----------------------------------------------------------------------===//

/// Calls `use` with the number of each op of `block` whose results `op` or its
/// regions read.
static void
forEachProducer(Operation *op, Block *block,
                const llvm::DenseMap<Operation *, unsigned> &numbers,
                llvm::function_ref<void(unsigned)> use) {
  auto visit = [&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && producer->getBlock() == block) {
        assert(numbers.contains(producer) &&
               "each op of the block has a number");
        use(numbers.lookup(producer));
      }
  };
  if (op->getNumRegions() == 0)
    visit(op);
  else
    op->walk(visit);
}

TaggedBlock::TaggedBlock(Block &block) : block(&block) {
  for (Operation &op : opsBeforeLast(block)) {
    ops.push_back(&op);
    absent.push_back(isAbsentValue(&op));
  }
}

void TaggedBlock::readDataflow(const ModuleTree &tree) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  numbers.reserve(ops.size());
  for (auto [number, op] : llvm::enumerate(ops))
    numbers[op] = number;

  graph = DataflowGraph(ops.size());
  std::optional<unsigned> lastEffect;
  for (auto [number, op] : llvm::enumerate(ops)) {
    unsigned to = number;
    forEachProducer(op, block, numbers,
                    [&](unsigned from) { graph.addEdge(from, to); });
    if (absent[number])
      graph.setRole(to, OpRole::Pinned);
    else if (isParameter(op))
      graph.setRole(to, parameterPath(op->getResult(0), tree).empty()
                            ? OpRole::Pinned
                            : OpRole::Weight);
    else if (isConstant(op))
      graph.setRole(to, OpRole::Constant);
    if (!isConstant(op) && hasEffects(op)) {
      if (lastEffect)
        graph.addEdge(*lastEffect, to);
      lastEffect = to;
    }
  }
  forEachProducer(block->getTerminator(), block, numbers,
                  [&](unsigned from) { graph.setEscapes(from); });
  graph.finish();
}

LogicalResult TaggedBlock::readTags(PathAttrs &paths) {
  Operation *untagged = nullptr, *tagged = nullptr;
  size_t numUntagged = 0;
  assert(calls.empty() && "tags are read once");
  calls.reserve(ops.size());
  for (Operation *op : ops) {
    std::optional<ModuleCall> call = readModuleCall(op, paths);
    calls.push_back(call.value_or(ModuleCall()));
    if (call && !tagged)
      tagged = op;
    // A constant needs no tag, as it goes where its users are.
    if (!call && !isConstant(op) && !numUntagged++)
      untagged = op;
  }
  if (!tagged)
    return block->getParentOp()->emitError(
        "no op has a tag or a location with a scope: run --htp-tag first");
  if (!untagged)
    return success();
  InFlightDiagnostic error =
      untagged->emitError("has no tag, while others have one: run --htp-tag, "
                          "which leaves no op without");
  if (numUntagged > 1)
    error << " (" << numUntagged << " ops have none)";
  error.attachNote(tagged->getLoc()) << "the first op with a tag is here";
  return error;
}

FailureOr<TaggedBlock> TaggedBlock::read(Block &block, const ModuleTree &tree) {
  TaggedBlock result(block);
  PathAttrs paths(tree, block.getParentOp()->getContext());
  if (failed(result.readTags(paths)))
    return failure();
  result.readDataflow(tree);
  return result;
}

} // namespace htp
