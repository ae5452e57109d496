// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-propagate-aux-tags: see Passes.td. A single backward sweep: when a node
// is visited, all readers of its results have a tag.

#include "DebugOutput.h"
#include "Evidence/Ground.h"
#include "Evidence/ModelGraph.h"
#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cassert>

#define DEBUG_TYPE "htp-propagate-aux-tags"

namespace htp {
#define GEN_PASS_DEF_HTPPROPAGATEAUXTAGS
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

struct PropagateAuxTags : htp::impl::HTPPropagateAuxTagsBase<PropagateAuxTags> {
  void runOnOperation() override;

private:
  /// The module and call that a neighbour belongs to.
  using Where = std::pair<ModuleId, int64_t>;
  using Votes = llvm::SmallMapVector<Where, unsigned, 4>;

  void sweep(Region &region);
  void decide(Operation *op);
  Votes consumers(Operation *op) const;
  Votes producers(Operation *op) const;
  void vote(Votes &votes, Operation *op) const;
  Operation *origin(Operation *op) const;
  Where common(const Votes &votes) const;
  void assign(Operation *op, Where where, Ground ground, const Votes &others);

  const ModuleTree *tree = nullptr;
  bool changed = false;
};

} // namespace

void PropagateAuxTags::vote(Votes &votes, Operation *op) const {
  if (TagAttr tag = op ? getTag(op) : TagAttr())
    ++votes[{tree->nearest(tag.getPath()), tag.getCall()}];
}

/// Votes of the nodes that read `op`'s results. A value returned from a body
/// counts as a result of the node that holds the body.
PropagateAuxTags::Votes PropagateAuxTags::consumers(Operation *op) const {
  Votes votes;
  for (Operation *user : op->getUsers()) {
    bool returned = user->hasTrait<OpTrait::IsTerminator>();
    vote(votes, returned ? user->getParentOp() : user);
  }
  return votes;
}

PropagateAuxTags::Votes PropagateAuxTags::producers(Operation *op) const {
  Votes votes;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    // Constants do not vote: they were made for their readers.
    if (producer && producer->getNumOperands() > 0)
      vote(votes, producer);
  }
  return votes;
}

/// The nearest tagged node up the chain of first operands, which skips nodes
/// that only re-encode a value (a quantizer's pair of nodes).
Operation *PropagateAuxTags::origin(Operation *op) const {
  static constexpr unsigned kFarthest = 16;
  for (unsigned step = 0; op && step < kFarthest && !getTag(op); ++step)
    op = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
  return op;
}

/// The common ancestor of all votes. The call is only kept if all votes agree
/// on the module.
PropagateAuxTags::Where PropagateAuxTags::common(const Votes &votes) const {
  assert(!votes.empty() && "nobody voted");
  Where where = votes.front().first;
  for (const auto &[other, count] : votes) {
    ModuleId ancestor = tree->lowestCommonAncestor(where.first, other.first);
    if (ancestor != where.first || where.second != other.second)
      where.second = ancestor == where.first ? where.second : 0;
    where.first = ancestor;
  }
  return where;
}

void PropagateAuxTags::assign(Operation *op, Where where, Ground ground,
                              const Votes &others) {
  MLIRContext *context = op->getContext();
  Evidence evidence = evidenceOf(ground);
  double confidence = worth(ground);
  SmallVector<ContextAttr> contexts;
  llvm::SmallDenseSet<ModuleId, 4> named = {where.first};
  for (const auto &[other, count] : others)
    if (named.insert(other.first).second)
      contexts.push_back(ContextAttr::get(context, (*tree)[other.first].path,
                                          Evidence::Consumer,
                                          doubt(confidence)));
  ++(evidence == Evidence::Ancestor ? numShared : numPropagated);
  changed = true;
  recordGround(op, ground);
  auto tag = TagAttr::get(context, (*tree)[where.first].path, where.second,
                          evidence, confidence, "", contexts);
  LDBG() << DebugNode{op} << " gets " << tag << " by the votes of "
         << others.size() << " modules";
  setTag(op, tag);
}

void PropagateAuxTags::decide(Operation *op) {
  assert(isNode(op) && !getTag(op) && "tags that are there stay");
  Votes after = consumers(op), before = producers(op);
  // Between two nodes of one module.
  const Where *both = nullptr;
  unsigned most = 0;
  for (const auto &[where, count] : after)
    if (auto found = before.find(where);
        found != before.end() && count + found->second > most) {
      most = count + found->second;
      both = &where;
    }
  if (both && (after.size() == 1 || before.size() == 1))
    return assign(op, *both, Ground::Between, after);
  if (after.size() == 1)
    return assign(op, after.front().first, Ground::ReadByOne, after);
  if (!after.empty())
    return assign(op, common(after), Ground::ReadBySeveral, after);
  // Without readers: a result of the model, or dead.
  if (before.empty())
    vote(before, origin(op));
  if (!before.empty())
    return assign(
        op, common(before),
        before.size() == 1 ? Ground::MadeByOne : Ground::MadeBySeveral, before);
  // In a body: use the tag of the node that holds it.
  if (TagAttr tag = getTag(op->getParentOp()))
    return assign(op, {tree->nearest(tag.getPath()), tag.getCall()},
                  Ground::HeldByOne, {});
  assign(op, {ModuleTree::root(), 0}, Ground::Nothing, {});
}

void PropagateAuxTags::sweep(Region &region) {
  for (Block &block : llvm::reverse(region))
    for (Operation &op : llvm::reverse(block)) {
      if (isNode(&op) && !getTag(&op))
        decide(&op);
      for (Region &body : op.getRegions())
        sweep(body);
    }
}

void PropagateAuxTags::runOnOperation() {
  mlir::ModuleOp module = getOperation();
  tree = &getAnalysis<HierarchyAnalysis>().tree();
  changed = false;
  markAnalysesPreserved<HierarchyAnalysis>();
  CallGraph functions(module);
  // Callers first, as nodes in a function take their callers' tags.
  llvm::SetVector<Operation *> order;
  for (FunctionOpInterface entry : functions.entries())
    order.insert(entry);
  for (size_t i = 0; i < order.size(); ++i) {
    auto function = cast<FunctionOpInterface>(order[i]);
    if (function->hasAttr(kModuleAttr))
      continue; // tagged by an earlier run
    Votes votes;
    for (Operation *caller : functions.callers(function))
      vote(votes, caller);
    LDBG() << "function '@" << function.getName() << "' is called from "
           << votes.size() << " modules";
    if (!votes.empty())
      function->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isNode(op) && !getTag(op))
          assign(op, common(votes),
                 votes.size() == 1 ? Ground::HeldByOne : Ground::HeldBySeveral,
                 votes);
      });
    sweep(function.getFunctionBody());
    function->walk([&](Operation *op) {
      if (FunctionOpInterface callee = functions.callee(op))
        order.insert(callee);
    });
  }
  if (!changed)
    markAllAnalysesPreserved();
}
