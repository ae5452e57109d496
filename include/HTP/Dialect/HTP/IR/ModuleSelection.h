// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops belong to modules that a user named, for schedules and patterns
// that are meant for one module. An op says its module by its tag, or, after
// passes that drop attributes, by the scopes in its location.

#ifndef HTP_DIALECT_HTP_IR_MODULESELECTION_H
#define HTP_DIALECT_HTP_IR_MODULESELECTION_H

#include "HTP/Dialect/HTP/IR/HTP.h"

#include <memory>
#include <mutex>
#include <vector>

namespace htp {

/// How a user names modules; at least one of the two, and where both are given
/// a module must be both.
struct ModuleFilter {
  /// A path, a tag or a pattern of paths (ModulePattern.h).
  llvm::StringRef path;
  /// A class, with or without its Python module.
  llvm::StringRef className;
};

/// The `htp.hierarchy` of the nearest module around `op`, or null.
HierarchyOp findHierarchyAround(mlir::Operation *op);

/// The modules of a tree that a filter names, with all that lies in them.
class ModuleSelection {
public:
  /// Fails where the filter names no module of the tree, and suggests the
  /// nearest name.
  static llvm::Expected<ModuleSelection> create(HierarchyOp hierarchy,
                                                const ModuleFilter &filter);

  bool contains(llvm::StringRef path) const {
    return selected[tree.nearest(path)];
  }

  /// Whether `op` is of these modules. One that a pass made of ops of several
  /// modules is where all of them are; one that says nothing of itself is of
  /// the module of the op around it. The body of an outlined function is that
  /// of the module whose body it is, also where others share it.
  bool contains(mlir::Operation *op) const;

private:
  explicit ModuleSelection(ModuleTree tree)
      : tree(std::move(tree)), selected(this->tree.size()) {}

  ModuleTree tree;
  std::vector<bool> selected; ///< by module
};

/// Selections for who asks op by op: the tree is read again only after it
/// changed. Threads may ask at the same time.
class ModuleSelections {
public:
  llvm::Expected<std::shared_ptr<const ModuleSelection>>
  get(HierarchyOp hierarchy, const ModuleFilter &filter);

private:
  struct Entry {
    std::string path, className;
    mlir::Operation *hierarchy = nullptr;
    std::vector<mlir::Attribute> names; ///< what the tree was read from
    std::shared_ptr<const ModuleSelection> selection;
    std::string error; ///< why there is no selection
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_MODULESELECTION_H
