// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-list-users: see Passes.td. It comes after resolution: that a module
// reads a value is no claim on the node that made it.

#include "Evidence/Ground.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

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

static bool isBelow(StringRef path, StringRef above) {
  return above.empty() ? !path.empty()
                       : path.consume_front(above) && path.starts_with(".");
}

/// The modules inside of that of `op`'s tag that read its results, in the order
/// of the tree. What a body returns, the node that holds the body returns.
static SmallVector<ModuleId> readersWithin(Operation *op, TagAttr own,
                                           PathAttrs &paths) {
  llvm::SmallSetVector<ModuleId, 4> readers;
  for (Operation *user : op->getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      user = user->getParentOp();
    TagAttr tag = getTag(user);
    if (!tag || tag == own || !isBelow(tag.getPath(), own.getPath()))
      continue;
    if (std::optional<ModuleId> module = paths.find(tag.getPathAttr()))
      readers.insert(*module);
  }
  SmallVector<ModuleId> sorted = readers.takeVector();
  llvm::sort(sorted);
  return sorted;
}

void ListUsers::runOnOperation() {
  auto &hierarchy = getAnalysis<HierarchyAnalysis>();
  const ModuleTree &tree = hierarchy.tree();
  markAnalysesPreserved<HierarchyAnalysis>();
  bool changed = false;
  forEachRootedNode(getOperation(), [&](Operation *op) {
    TagAttr tag = getTag(op);
    if (!tag)
      return;
    SmallVector<ModuleId> readers = readersWithin(op, tag, hierarchy.paths());
    if (readers.size() < 2 || !tree.contains(tag.getPath()))
      return;
    ++numShared;
    changed = true;
    SmallVector<ContextAttr> contexts(tag.getContexts());
    llvm::SmallDenseSet<StringRef> named;
    for (ContextAttr context : contexts)
      named.insert(context.getPath());
    // Every layer may read a mask: thousands.
    for (ModuleId reader : readers)
      if (!named.contains(tree[reader].path))
        contexts.push_back(ContextAttr::get(&getContext(), tree[reader].path,
                                            Evidence::Consumer,
                                            doubt(tag.getConfidenceValue())));
    setTag(op, tag.withContexts(contexts));
  });
  if (!changed)
    markAllAnalysesPreserved();
}
