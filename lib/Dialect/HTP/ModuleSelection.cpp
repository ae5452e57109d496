// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selecting ops by module, and the cache of selections for op-by-op queries.

#include "HTP/Dialect/HTP/IR/ModuleSelection.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/ModulePattern.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace htp {

HierarchyOp findHierarchyAround(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto module = dyn_cast<mlir::ModuleOp>(op))
      if (HierarchyOp hierarchy = findHierarchy(module))
        return hierarchy;
  return {};
}

//===----------------------------------------------------------------------===//
// ModuleSelection
//===----------------------------------------------------------------------===//

llvm::Expected<ModuleSelection>
ModuleSelection::create(HierarchyOp hierarchy, const ModuleFilter &filter) {
  ModuleSelection selection(fromIR(hierarchy));
  const ModuleTree &tree = selection.tree;
  std::vector<bool> named(tree.size(), true);
  auto keep = [&](llvm::Expected<std::vector<ModuleId>> found) -> llvm::Error {
    if (!found)
      return found.takeError();
    std::vector<bool> kept(tree.size());
    for (ModuleId id : *found)
      kept[id] = named[id];
    named = std::move(kept);
    return llvm::Error::success();
  };
  if (!filter.className.empty())
    if (llvm::Error error = keep(findModulesOfClass(tree, filter.className)))
      return std::move(error);
  if (!filter.path.empty())
    if (llvm::Error error = keep(findModules(tree, filter.path)))
      return std::move(error);
  if (!llvm::is_contained(named, true))
    return llvm::createStringError("no module of class '" + filter.className +
                                   "' is at '" + filter.path + "'");
  // Parents need not come first, so walk up from each module.
  for (ModuleId id : tree.ids()) {
    ModuleId at = id;
    while (!named[at] && at != ModuleTree::root())
      at = tree[at].parent;
    selection.selected[id] = named[at];
  }
  return selection;
}

bool ModuleSelection::contains(Operation *op) const {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto module = function ? function->getAttrOfType<StringAttr>(kModuleAttr)
                         : StringAttr();
  // In the body of an outlined function paths are relative.
  ModuleFrame frame(module ? module.getValue() : StringRef());
  for (; op && !isa<FunctionOpInterface>(op); op = op->getParentOp()) {
    if (TagAttr tag = getTag(op))
      return contains(frame.absolute(tag.getPath()));
    SmallVector<Scope, 1> scopes = findScopes(op->getLoc());
    if (!scopes.empty())
      return llvm::all_of(scopes, [&](const Scope &scope) {
        return contains(frame.absolute(scope.path));
      });
  }
  return module && op && contains(module.getValue());
}

//===----------------------------------------------------------------------===//
// ModuleSelections
//===----------------------------------------------------------------------===//

/// Calls `visit` with every attribute that a selection depends on.
static void forEachName(HierarchyOp hierarchy,
                        llvm::function_ref<void(Attribute)> visit) {
  visit(hierarchy.getQualifiedAttr());
  for (auto module : hierarchy.getBody()->getOps<htp::ModuleOp>()) {
    visit(module.getSymNameAttr());
    visit(module.getQualifiedAttr());
    visit(module.getAliasesAttr());
    visit(module.getTorchNnAttr());
  }
}

/// Whether `names` still describe the tree. Comparing the op's address is not
/// enough: a hierarchy is replaced as a whole, and its memory may be reused.
static bool hasNames(HierarchyOp hierarchy, ArrayRef<Attribute> names) {
  size_t count = 0;
  bool same = true;
  forEachName(hierarchy, [&](Attribute name) {
    same = same && count < names.size() && names[count] == name;
    ++count;
  });
  return same && count == names.size();
}

llvm::Expected<std::shared_ptr<const ModuleSelection>>
ModuleSelections::get(HierarchyOp hierarchy, const ModuleFilter &filter) {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = llvm::find_if(entries, [&](const Entry &entry) {
    return entry.hierarchy == hierarchy && entry.path == filter.path &&
           entry.className == filter.className;
  });
  if (known == entries.end()) {
    known = entries.emplace(known);
    known->path = filter.path.str();
    known->className = filter.className.str();
    known->hierarchy = hierarchy;
  }
  if (known->names.empty() || !hasNames(hierarchy, known->names)) {
    known->names.clear();
    forEachName(hierarchy,
                [&](Attribute name) { known->names.push_back(name); });
    known->error.clear();
    known->selection.reset();
    if (auto made = ModuleSelection::create(hierarchy, filter))
      known->selection = std::make_shared<ModuleSelection>(std::move(*made));
    else
      known->error = llvm::toString(made.takeError());
  }
  if (!known->selection)
    return llvm::createStringError(known->error);
  return known->selection;
}

} // namespace htp
