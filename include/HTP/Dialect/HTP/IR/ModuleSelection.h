// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the ops of modules that a user named, for transform schedules and
// patterns that apply to one module only. The module of an op is taken from its
// tag or, after passes that drop attributes, from the scopes in its location.

#ifndef HTP_DIALECT_HTP_IR_MODULESELECTION_H
#define HTP_DIALECT_HTP_IR_MODULESELECTION_H

#include "HTP/Dialect/HTP/IR/HTP.h"

#include <memory>
#include <mutex>
#include <vector>

namespace htp {

/// How a user names modules. At least one field is set; if both are, a module
/// must match both.
struct ModuleFilter {
  /// A path, a tag or a pattern of paths (ModulePattern.h).
  llvm::StringRef path;
  /// A class, with or without its Python module.
  llvm::StringRef className;
};

/// The `htp.hierarchy` of the nearest module around `op`, or null.
HierarchyOp findHierarchyAround(mlir::Operation *op);

/// The modules of a tree that a filter names, with all of their descendants.
class ModuleSelection {
public:
  /// Fails, suggesting the nearest name, if no module of the tree matches.
  static llvm::Expected<ModuleSelection> create(HierarchyOp hierarchy,
                                                const ModuleFilter &filter);

  bool contains(llvm::StringRef path) const {
    return selected[tree.nearest(path)];
  }

  /// Whether `op` belongs to these modules. An op that a pass fused from
  /// several modules must have all of them selected; an op without tag or scope
  /// belongs to the module of its parent op. Ops of an outlined function count
  /// as those of the module it was made from, even if other modules share the
  /// function.
  bool contains(mlir::Operation *op) const;

private:
  explicit ModuleSelection(ModuleTree tree)
      : tree(std::move(tree)), selected(this->tree.size()) {}

  ModuleTree tree;
  std::vector<bool> selected; ///< by module
};

/// A cache of selections, for callers that ask op by op: the tree is read again
/// only after it changed. Thread-safe.
class ModuleSelections {
public:
  llvm::Expected<std::shared_ptr<const ModuleSelection>>
  get(HierarchyOp hierarchy, const ModuleFilter &filter);

private:
  struct Entry {
    std::string path, className;
    mlir::Operation *hierarchy = nullptr;
    std::vector<mlir::Attribute> names; ///< to detect a changed tree
    std::shared_ptr<const ModuleSelection> selection;
    std::string error; ///< why there is no selection
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_MODULESELECTION_H
