// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-list-users: see Passes.td. Must run after resolution, which would take
// the contexts added here for conflicting evidence.

#include "DebugOutput.h"
#include "Evidence/Ground.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "htp-list-users"

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

/// The submodules of the module in `op`'s tag that read its results, in tree
/// order. A value returned from a body counts as a result of the node that
/// holds the body.
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
    LDBG() << DebugNode{op} << " of '" << tag.getPath() << "' is read by "
           << readers.size() << " of its submodules";
    SmallVector<ContextAttr> contexts(tag.getContexts());
    llvm::SmallDenseSet<StringRef> named;
    for (ContextAttr context : contexts)
      named.insert(context.getPath());
    // A set, as a mask may be read by thousands of layers.
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
