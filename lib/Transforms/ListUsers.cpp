// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-list-users: see Passes.td. It comes after resolution: that a module
// reads a value is no claim on the node that made it.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace htp {
#define GEN_PASS_DEF_HTPLISTUSERS
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {
struct ListUsers : htp::impl::HTPListUsersBase<ListUsers> {
  void runOnOperation() override;
};
} // namespace

/// The modules inside of `own` that read the results of `op`, in the order of
/// the tree. What a body returns, the node that holds the body returns.
static SmallVector<ModuleId> readersWithin(Operation *op, ModuleId own,
                                           const ModuleTree &tree) {
  llvm::SmallSetVector<ModuleId, 4> readers;
  for (Operation *user : op->getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      user = user->getParentOp();
    TagAttr tag = getTag(user);
    auto module = tag ? tree.find(tag.getPath()) : std::nullopt;
    if (module && *module != own && tree.isAncestorOrSelf(own, *module))
      readers.insert(*module);
  }
  SmallVector<ModuleId> sorted = readers.takeVector();
  llvm::sort(sorted);
  return sorted;
}

void ListUsers::runOnOperation() {
  const ModuleTree &tree = getAnalysis<HierarchyAnalysis>().tree;
  markAnalysesPreserved<HierarchyAnalysis>();
  bool changed = false;
  forEachNode(getOperation(), [&](Operation *op) {
    TagAttr tag = getTag(op);
    auto own = tag ? tree.find(tag.getPath()) : std::nullopt;
    if (!own)
      return;
    SmallVector<ModuleId> readers = readersWithin(op, *own, tree);
    if (readers.size() < 2)
      return;
    ++numShared;
    changed = true;
    // What is left, without the noise of the subtraction.
    double rest = std::round((1 - tag.getConfidenceValue()) * 1000) / 1000;
    SmallVector<ContextAttr> contexts(tag.getContexts());
    llvm::SmallDenseSet<StringRef> named;
    for (ContextAttr context : contexts)
      named.insert(context.getPath());
    // Every layer may read a mask: thousands.
    for (ModuleId reader : readers)
      if (!named.contains(tree[reader].path))
        contexts.push_back(ContextAttr::get(&getContext(), tree[reader].path,
                                            "consumer", rest));
    setTag(op, TagAttr::get(&getContext(), tag.getPath(), tag.getCall(),
                            tag.getEvidence(), tag.getConfidenceValue(),
                            tag.getReason(), contexts));
  });
  if (!changed)
    markAllAnalysesPreserved();
}
