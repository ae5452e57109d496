// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-inline: the inverse of --htp-outline.
//
//   %1 = call @Layer(%x, %w) {htp.tag = #htp.tag<"layer.0">, htp.order = …}
// becomes
//   %0 = "d.mul"(%x, %w) {htp.tag = #htp.tag<"layer.0">}
//   %1 = "d.relu"(%0) {htp.tag = #htp.tag<"layer.0">}
//
// Calls are inlined from the outermost to the innermost, as the record of a
// call includes the records of the calls in its body.

#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#include <cassert>

#define DEBUG_TYPE "htp-inline"

namespace htp {
#define GEN_PASS_DEF_HTPINLINE
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

struct Inline : htp::impl::HTPInlineBase<Inline> {
  void runOnOperation() override;

private:
  bool isOutlined(Operation *op);
  void keepCalled();
  void dropDomains();
  void inlineBlock(Block &block);
  void inlineCall(func::CallOp call, func::FuncOp function);
  void restoreConstants(Block &body, DenseI64ArrayAttr passed);
  void inlineRegion(RegionOp region);
  void placeRest(Block &block, SmallVectorImpl<Operation *> &stayed);
  SmallVector<Operation *> originalOrder(Block &block);
  void restoreOrder(Block &block);
  void restoreAbsentValues(Block &block, ArrayRef<Operation *> sorted);
  void restorePositions(Block &block, ArrayRef<Operation *> sorted);
  void place(Block &body, DenseI64ArrayAttr order);

  llvm::MapVector<StringRef, func::FuncOp> outlined;
  /// The constants of the flat block that functions have copies of, by number,
  /// and the next free number.
  llvm::DenseMap<int64_t, Operation *> constants;
  int64_t nextConstant = 0;
  /// The positions of inlined ops in the flat block.
  llvm::DenseMap<Operation *, int64_t> places;
};

} // namespace

void Inline::runOnOperation() {
  outlined.clear();
  places.clear();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (function->hasAttr(kModuleAttr) && !function.isExternal())
      outlined[function.getSymName()] = function;
  if (failed(CallGraph(getOperation()).checkRecursion()))
    return signalPassFailure();
  for (auto function : getOperation().getOps<FunctionOpInterface>())
    if (!function->hasAttr(kModuleAttr) && !function.isExternal() &&
        function.getFunctionBody().hasOneBlock())
      inlineBlock(function.getFunctionBody().front());
  keepCalled();
  dropDomains();
  for (auto &entry : outlined)
    entry.second.erase();
}

/// Takes out of `outlined` what is still called: a node of a file that was
/// changed since may not fit its function and stays a node.
void Inline::keepCalled() {
  CallGraph graph(getOperation());
  auto isKept = [&](auto entry) {
    return llvm::any_of(graph.callers(entry.second), [&](Operation *call) {
      auto around = call->getParentOfType<FunctionOpInterface>();
      return !outlined.contains(around.getName());
    });
  };
  for (size_t before = 0; before != outlined.size();) {
    before = outlined.size();
    outlined.remove_if(isKept);
  }
}

/// Removes opset imports of the domains of outlined functions, as these
/// functions are gone.
void Inline::dropDomains() {
  llvm::DenseSet<Attribute> domains;
  for (auto &entry : outlined)
    if (Attribute domain = entry.second->getAttr("onnx.function_domain"))
      domains.insert(domain);
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!outlined.contains(function.getSymName()))
      domains.erase(function->getAttr("onnx.function_domain"));
  auto drop = [&](Operation *from) {
    auto imports = from->getAttrOfType<ArrayAttr>("onnx.opset_import");
    if (!imports || domains.empty())
      return;
    SmallVector<Attribute> kept;
    for (Attribute import : imports) {
      auto fields = dyn_cast<DictionaryAttr>(import);
      if (!fields || !domains.contains(fields.get("domain")))
        kept.push_back(import);
    }
    from->setAttr("onnx.opset_import", ArrayAttr::get(&getContext(), kept));
  };
  drop(getOperation());
  // If nothing else is imported, the file had no imports.
  if (auto left = getOperation()->getAttrOfType<ArrayAttr>("onnx.opset_import");
      left && left.empty() && !domains.empty()) {
    getOperation()->removeAttr("onnx.opset_import");
    getOperation()->setAttr("onnx.incomplete", UnitAttr::get(&getContext()));
  }
  for (auto function : getOperation().getOps<func::FuncOp>())
    drop(function);
}

/// Whether inlining replaces `op`.
bool Inline::isOutlined(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return outlined.contains(call.getCallee());
  return isa<RegionOp>(op);
}

/// Whether outlining has sorted `block`, which it may have done without leaving
/// a call in it.
static bool hasRecord(Block &block) {
  Operation *parent = block.getParentOp();
  return parent->hasAttr(kOrderAttr) || parent->hasAttr(kPositionsAttr);
}

void Inline::inlineBlock(Block &block) {
  bool changed = hasRecord(block);
  constants.clear();
  nextConstant = 0;
  for (Operation &op : block)
    if (auto number = op.getAttrOfType<IntegerAttr>(kConstantAttr)) {
      constants.try_emplace(number.getInt(), &op);
      nextConstant = std::max(nextConstant, number.getInt() + 1);
      op.removeAttr(kConstantAttr);
    }
  // Inlined ops are visited next.
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it++;
    if (!isOutlined(op))
      continue;
    Operation *before = op->getPrevNode();
    if (auto call = dyn_cast<func::CallOp>(op))
      inlineCall(call, outlined.lookup(call.getCallee()));
    else
      inlineRegion(cast<RegionOp>(op));
    it = before ? std::next(Block::iterator(before)) : block.begin();
    changed = true;
    ++numCalls;
  }
  if (!changed)
    return;
  restoreOrder(block);
}

/// Records the original positions of the ops of `body`, unless the body was
/// changed.
void Inline::place(Block &body, DenseI64ArrayAttr order) {
  if (!order)
    return;
  SmallVector<Operation *> ops;
  for (Operation &op : opsBeforeLast(body))
    if (!isOutlined(&op) && !isAbsentValue(&op) && !isSunkConstant(&op))
      ops.push_back(&op);
  for (auto [op, place] : llvm::zip(ops, decodeOrder(order, ops.size())))
    places[op] = place;
}

/// Replaces copies of constants by the originals that the call recorded, and
/// updates the records of calls in the body likewise. If an original is gone,
/// its copy takes its place.
void Inline::restoreConstants(Block &body, DenseI64ArrayAttr passed) {
  ArrayRef<int64_t> numbers =
      passed ? passed.asArrayRef() : ArrayRef<int64_t>();
  // Originals in this body get new numbers, as each call of the function has
  // its own.
  llvm::DenseMap<int64_t, int64_t> inBody;
  for (Operation &op : body)
    if (auto number = op.getAttrOfType<IntegerAttr>(kConstantAttr)) {
      inBody.try_emplace(constantInBody(number.getInt()), nextConstant);
      constants[nextConstant++] = &op;
      op.removeAttr(kConstantAttr);
    }
  auto translated = [&](int64_t number) -> int64_t {
    if (auto own = inBody.find(number); own != inBody.end())
      return own->second;
    return number >= 0 && size_t(number) < numbers.size() ? numbers[number]
                                                          : -1;
  };
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isSunkConstant(&op)) {
      auto copy = op.getAttrOfType<IntegerAttr>(kSunkAttr);
      Operation *original =
          copy ? constants.lookup(translated(copy.getInt())) : nullptr;
      op.removeAttr(kSunkAttr);
      LDBG(2) << "copy of a constant " << copy
              << (original ? " goes back to its original"
                           : " has lost its original and stays");
      // What is known of the type may differ between graph and function.
      if (original &&
          mayBeOne(original->getResultTypes(), op.getResultTypes())) {
        op.replaceAllUsesWith(original);
        op.erase();
      }
    } else if (auto inner =
                   op.getAttrOfType<DenseI64ArrayAttr>(kConstantsAttr)) {
      op.setAttr(kConstantsAttr,
                 DenseI64ArrayAttr::get(
                     &getContext(),
                     llvm::map_to_vector(inner.asArrayRef(), translated)));
    }
  }
}

/// Whether `type` is more specific than `other`, for the same value.
static bool knowsMore(Type type, Type other) {
  auto shaped = dyn_cast<ShapedType>(type), old = dyn_cast<ShapedType>(other);
  if (!shaped || !old || !shaped.hasRank())
    return shaped && !old;
  return !old.hasRank() || old.getNumDynamicDims() > shaped.getNumDynamicDims();
}

void Inline::inlineCall(func::CallOp call, func::FuncOp function) {
  assert(function && function->hasAttr(kModuleAttr) &&
         "only outlined functions are inlined");
  // Clone the body and restore this call's names, tags and locations.
  Block body;
  IRMapping mapping;
  mapping.map(function.getArguments(), call.getOperands());
  for (Operation &op : function.front())
    body.push_back(op.clone(mapping));
  TagAttr tag = getTag(call);
  ModuleFrame frame(tag ? tag.getPath() : StringRef());
  for (Operation &op : body)
    makeAbsolute(&op, frame);
  if (auto originals = call->getAttrOfType<OriginalsAttr>(kOriginalsAttr)) {
    SmallVector<Operation *> ops = recordedOps(body);
    if (ops.size() != originals.size())
      LDBG() << "'@" << function.getSymName() << "' has " << ops.size()
             << " ops, the record of the call " << originals.size()
             << ": names and locations are those of the function";
    else
      for (auto [i, op] : llvm::enumerate(ops))
        applyDifference(op, originals[i]);
  }
  place(body, call->getAttrOfType<DenseI64ArrayAttr>(kOrderAttr));
  restoreConstants(body,
                   call->getAttrOfType<DenseI64ArrayAttr>(kConstantsAttr));

  Operation *terminator = &body.back();
  // The call's result types may be more specific than those in the body.
  for (auto [inner, outer] :
       llvm::zip(terminator->getOperands(), call.getResults()))
    if (isa<OpResult>(inner) && knowsMore(outer.getType(), inner.getType()))
      inner.setType(outer.getType());
  LDBG(2) << "inlined '@" << function.getSymName() << "' for '"
          << (tag ? tag.getPath() : StringRef()) << "'";
  call->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  call->getBlock()->getOperations().splice(Block::iterator(call),
                                           body.getOperations());
  call->erase();
}

void Inline::inlineRegion(RegionOp region) {
  Block &body = *region.getBody();
  place(body, region->getAttrOfType<DenseI64ArrayAttr>(kOrderAttr));
  Operation *yield = body.getTerminator();
  region->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  region->getBlock()->getOperations().splice(Block::iterator(region),
                                             body.getOperations());
  region->erase();
}

/// Records the positions of ops that never left `block`, if the block's
/// function recorded them.
void Inline::placeRest(Block &block, SmallVectorImpl<Operation *> &stayed) {
  Operation *parent = block.getParentOp();
  auto order = parent->getAttrOfType<DenseI64ArrayAttr>(kOrderAttr);
  if (!order)
    return;
  SmallVector<int64_t> decoded = decodeOrder(order, stayed.size());
  if (!decoded.empty()) {
    for (auto [op, place] : llvm::zip(stayed, decoded))
      places[op] = place;
    stayed.clear();
  }
  parent->removeAttr(kOrderAttr);
}

/// The ops of `block` in their original order, or nothing if the recorded
/// positions are inconsistent. Ops that never left the block fill the gaps.
SmallVector<Operation *> Inline::originalOrder(Block &block) {
  SmallVector<Operation *> stayed, sorted;
  for (Operation &op : opsBeforeLast(block))
    if (!isAbsentValue(&op) && !places.contains(&op))
      stayed.push_back(&op);
  placeRest(block, stayed);
  sorted.resize(stayed.size() + places.size());
  for (auto [op, place] : places) {
    if (place < 0 || place >= int64_t(sorted.size()) || sorted[place])
      return {};
    sorted[place] = op;
  }
  auto next = stayed.begin();
  for (Operation *&op : sorted)
    if (!op) {
      assert(next != stayed.end() && "as many gaps as ops that stayed");
      op = *next++;
    }
  return sorted;
}

/// Whether `ops` are in topological order.
static bool isValidOrder(ArrayRef<Operation *> ops, Block &block) {
  llvm::DenseSet<Operation *> before;
  for (Operation *op : ops) {
    bool valid = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == &block &&
            !isAbsentValue(producer) && !before.contains(producer))
          valid = false;
    });
    if (!valid)
      return false;
    before.insert(op);
  }
  return true;
}

void Inline::restoreOrder(Block &block) {
  SmallVector<Operation *> sorted = originalOrder(block);
  places.clear();
  if (!isValidOrder(sorted, block))
    sorted.clear();
  LDBG() << (sorted.empty() ? "no valid original order is recorded: ops stay "
                              "in the order of the calls"
                            : "restored the original order");
  Operation *terminator = &block.back();
  for (Operation *op : sorted)
    op->moveBefore(terminator);
  restoreAbsentValues(block, sorted);
  restorePositions(block, sorted);
}

/// Restores the positions of nodes in a file that was not in topological order.
void Inline::restorePositions(Block &block, ArrayRef<Operation *> sorted) {
  Operation *parent = block.getParentOp();
  auto runs = parent->getAttrOfType<DenseI64ArrayAttr>(kPositionsAttr);
  if (!runs)
    return;
  parent->removeAttr(kPositionsAttr);
  SmallVector<Operation *> nodes;
  llvm::copy_if(sorted, std::back_inserter(nodes), isNode);
  Builder builder(&getContext());
  for (auto [op, position] : llvm::zip(nodes, decodeOrder(runs, nodes.size())))
    op->setAttr(kPositionAttr, builder.getI64IntegerAttr(position));
}

/// Outlining gave each body its own placeholder for absent values. Replaces
/// these by the original, at its position among `sorted`. If none is marked as
/// the original, uses one at the top of the block.
void Inline::restoreAbsentValues(Block &block, ArrayRef<Operation *> sorted) {
  SmallVector<Operation *> originals, others;
  for (Operation &op : opsBeforeLast(block))
    if (isAbsentValue(&op))
      (op.hasAttr(kPlaceAttr) ? originals : others).push_back(&op);
  for (Operation *original : originals) {
    auto place = original->getAttrOfType<IntegerAttr>(kPlaceAttr);
    size_t index = place ? place.getInt() : sorted.size();
    if (!sorted.empty())
      original->moveBefore(index < sorted.size() ? sorted[index]
                                                 : &block.back());
    else
      original->moveBefore(&block, block.begin());
    original->removeAttr(kPlaceAttr);
  }
  auto isSame = [](Operation *a, Operation *b) {
    return a->getName() == b->getName() &&
           a->getResultTypes() == b->getResultTypes();
  };
  for (Operation *other : others) {
    auto copy = other->getAttrOfType<IntegerAttr>(kCopyAttr);
    Operation *original = nullptr;
    if (copy && size_t(copy.getInt()) < originals.size())
      original = originals[copy.getInt()];
    else if (auto it = llvm::find_if(
                 originals, [&](Operation *op) { return isSame(op, other); });
             it != originals.end())
      original = *it;
    if (original && isSame(original, other)) {
      other->replaceAllUsesWith(original);
      other->erase();
    } else {
      other->removeAttr(kCopyAttr);
      other->moveBefore(&block, block.begin());
      originals.push_back(other);
    }
  }
}
