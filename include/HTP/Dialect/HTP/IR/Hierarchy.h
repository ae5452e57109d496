// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between the module tree of lib/Hierarchy and the `htp.hierarchy` in
// the IR.

#ifndef HTP_DIALECT_HTP_IR_HIERARCHY_H
#define HTP_DIALECT_HTP_IR_HIERARCHY_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include <cassert>
#include <memory>

namespace htp {

/// The `htp.hierarchy` directly inside `module`, or null.
HierarchyOp findHierarchy(mlir::ModuleOp module);

/// The same, but emits an error that explains how to get one if there is none.
mlir::FailureOr<HierarchyOp> requireHierarchy(mlir::ModuleOp module);

/// Whether tags written to files include torch.nn classes.
bool keepsTorchNN(mlir::ModuleOp module);
void keepTorchNN(HierarchyOp hierarchy, bool keep);

/// The paths of a tree's modules as attributes, each uniqued only once: tags,
/// locations and the module's own operation share it.
class PathAttrs {
public:
  PathAttrs(const ModuleTree &tree, mlir::MLIRContext *context)
      : tree(tree), context(context), paths(tree.size()) {
    paths[ModuleTree::root()] = mlir::StringAttr::get(context);
  }

  mlir::StringAttr operator[](ModuleId id) {
    assert(id < paths.size() && "no such module in the tree of these paths");
    mlir::StringAttr &path = paths[id];
    if (!path)
      path = mlir::StringAttr::get(context, tree[id].path);
    return path;
  }
  void set(ModuleId id, mlir::StringAttr path) {
    assert(id < paths.size() && "no such module in the tree of these paths");
    assert(path.getValue() == tree[id].path && "not the path of this module");
    paths[id] = path;
  }

  /// The module at `path`; `path` is then cached as its attribute. Searches
  /// near the last result first: graphs follow their tree, so the next query is
  /// mostly for the same module, its parent, or one of the next ones in order.
  std::optional<ModuleId> find(mlir::StringAttr path);

  const ModuleTree &getTree() const { return tree; }

private:
  const ModuleTree &tree;
  mlir::MLIRContext *context;
  std::vector<mlir::StringAttr> paths;
  ModuleId last = ModuleTree::root(), reached = ModuleTree::root();
};

/// The tree that `op` holds. `op` must be verified, so this cannot fail.
ModuleTree fromIR(HierarchyOp op);

/// The tree of `module`; a lone root if there is no `htp.hierarchy`.
ModuleTree fromIR(mlir::ModuleOp module);

/// The module tree as an analysis, read from `htp.hierarchy` on first use. A
/// pass that does not modify the `htp.hierarchy` preserves it.
class HierarchyAnalysis {
public:
  explicit HierarchyAnalysis(mlir::Operation *module)
      : module(llvm::cast<mlir::ModuleOp>(module)) {}

  const ModuleTree &tree() { return read(), *known; }
  PathAttrs &paths() { return read(), *attributes; }

  /// Caches a tree that the caller has just written into the IR, so that it
  /// need not be read back.
  void assume(std::shared_ptr<const ModuleTree> tree, PathAttrs paths);

private:
  void read();

  mlir::ModuleOp module;
  std::shared_ptr<const ModuleTree> known;
  std::optional<PathAttrs> attributes;
};

/// Writes `tree` as the first operation of `module`, replacing an existing
/// hierarchy.
HierarchyOp toIR(const ModuleTree &tree, mlir::ModuleOp module);

/// The same in two steps: the first does not touch the module and can run on
/// another thread.
mlir::OwningOpRef<HierarchyOp> toIR(const ModuleTree &tree, PathAttrs &paths,
                                    mlir::MLIRContext *context);
void setHierarchy(mlir::ModuleOp module,
                  mlir::OwningOpRef<HierarchyOp> hierarchy);

/// The type of a parameter, and back. A dtype without an MLIR type becomes
/// !htp.dtype.
mlir::Type typeOf(const Parameter &parameter, mlir::MLIRContext *context);
llvm::StringRef dtypeOf(mlir::Type elementType);

/// `tag` without those contexts whose module is not in the tree.
TagAttr withKnownContexts(TagAttr tag, const ModuleTree &tree);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_HIERARCHY_H
