// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the module tree of lib/Hierarchy and the `htp.hierarchy` in the IR.

#ifndef HTP_DIALECT_HTP_IR_HIERARCHY_H
#define HTP_DIALECT_HTP_IR_HIERARCHY_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include <memory>

namespace htp {

/// The `htp.hierarchy` directly inside `module`, or null.
HierarchyOp findHierarchy(mlir::ModuleOp module);

/// The same, with an error that says how to get one where there is none.
mlir::FailureOr<HierarchyOp> requireHierarchy(mlir::ModuleOp module);

/// Whether written tags name the classes of torch.nn too.
bool keepsTorchNN(mlir::ModuleOp module);
void keepTorchNN(HierarchyOp hierarchy, bool keep);

/// The paths of a tree's modules as attributes: a tag, a location and the
/// module's own operation share one, which is looked up once.
class PathAttrs {
public:
  PathAttrs(const ModuleTree &tree, mlir::MLIRContext *context)
      : tree(tree), context(context), paths(tree.size()) {
    paths[ModuleTree::root()] = mlir::StringAttr::get(context);
  }

  mlir::StringAttr operator[](ModuleId id) {
    mlir::StringAttr &path = paths[id];
    if (!path)
      path = mlir::StringAttr::get(context, tree[id].path);
    return path;
  }
  void set(ModuleId id, mlir::StringAttr path) { paths[id] = path; }

  /// The module at `path`, which is then known as its attribute. A graph
  /// follows its tree: what is asked for next is mostly the same module, the
  /// one around it, or one of the next that were not reached yet.
  std::optional<ModuleId> find(mlir::StringAttr path);

  const ModuleTree &getTree() const { return tree; }

private:
  const ModuleTree &tree;
  mlir::MLIRContext *context;
  std::vector<mlir::StringAttr> paths;
  ModuleId last = ModuleTree::root(), reached = ModuleTree::root();
};

/// Tags of the modules of a tree. Ops of a module mostly get the tag that
/// another one of it got last, which is then not looked up again.
class ModuleTags {
public:
  explicit ModuleTags(size_t modules) : last(modules) {}

  TagAttr get(ModuleId module, mlir::StringAttr path, int64_t call,
              Evidence evidence, double confidence,
              llvm::StringRef reason = {});

private:
  std::vector<TagAttr> last;
};

/// The tree that `op` holds. It is well formed: `op` has been verified.
ModuleTree fromIR(HierarchyOp op);

/// The tree of `module`; only a root where there is no `htp.hierarchy`.
ModuleTree fromIR(mlir::ModuleOp module);

/// The tree of a module as an analysis, read from `htp.hierarchy` when someone
/// asks for it. A pass that leaves that alone preserves it.
class HierarchyAnalysis {
public:
  explicit HierarchyAnalysis(mlir::Operation *module)
      : module(llvm::cast<mlir::ModuleOp>(module)) {}

  const ModuleTree &tree() { return read(), *known; }
  PathAttrs &paths() { return read(), *attributes; }

  /// For who has just written this tree into the IR: nobody need read it back.
  void assume(std::shared_ptr<const ModuleTree> tree, PathAttrs paths);

private:
  void read();

  mlir::ModuleOp module;
  std::shared_ptr<const ModuleTree> known;
  std::optional<PathAttrs> attributes;
};

/// Writes `tree` as the first operation of `module`, in place of a hierarchy
/// that is already there.
HierarchyOp toIR(const ModuleTree &tree, mlir::ModuleOp module);

/// The same in two steps, for who has something else to do meanwhile.
mlir::OwningOpRef<HierarchyOp> toIR(const ModuleTree &tree, PathAttrs &paths,
                                    mlir::MLIRContext *context);
void setHierarchy(mlir::ModuleOp module,
                  mlir::OwningOpRef<HierarchyOp> hierarchy);

/// The type of a parameter, and back. A dtype that MLIR has no type for is
/// `none`, and the shape is then lost.
mlir::Type typeOf(const Parameter &parameter, mlir::MLIRContext *context);
llvm::StringRef dtypeOf(mlir::Type elementType);

/// The tag without contexts that name a module which the tree does not have.
TagAttr withKnownContexts(TagAttr tag, const ModuleTree &tree);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_HIERARCHY_H
