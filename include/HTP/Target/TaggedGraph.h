// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model as people and graph tools want to see it: operations under stable
// names, each with its module, and the edges between them.

#ifndef HTP_TARGET_TAGGEDGRAPH_H
#define HTP_TARGET_TAGGEDGRAPH_H

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Hierarchy/TagNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/StringSaver.h"

#include <memory>
#include <optional>
#include <vector>

namespace htp {

/// `text` as it is where it is UTF-8, else with every byte that is not written
/// as `\xNN`: a reader sees what was there, and two names stay two.
std::string validUTF8(llvm::StringRef text);

/// The view of a model that all side outputs share. It refers to the module and
/// must not outlive it.
///
/// A call of a function that the module defines (an outlined model) is no
/// operation but a module: the function's operations appear once for each call,
/// named `<call>/<operation>`, in the module that the call belongs to.
///
/// Every operation has a name of its own: its `onnx_node_name`; where that is
/// missing, its type (or, where an earlier operation has the same, the name),
/// `#`, and its place in the order of the file, operations in the bodies of
/// If, Loop and Scan included.
class TaggedGraph {
public:
  using NodeId = unsigned;

  /// One copy of a function's body: the main graph, or what a call stands for.
  struct Frame {
    mlir::Operation *function = nullptr;
    /// The call that made it; null for a graph that nobody calls.
    mlir::Operation *call = nullptr;
    unsigned caller = 0;   ///< the frame of the call
    llvm::StringRef name;  ///< of the call; empty for a main graph
    llvm::StringRef path;  ///< of the module that the call stands for
    bool relative = false; ///< tags in the body are relative to that module
    llvm::DenseMap<mlir::Operation *, NodeId> nodes;
    /// The frames of the calls in this one.
    llvm::DenseMap<mlir::Operation *, unsigned> calls;
  };

  struct Node {
    mlir::Operation *op = nullptr;
    llvm::StringRef name;
    unsigned frame = 0;
    ModuleId module = 0;   ///< where `tag` is set
    TagAttr tag;           ///< its own, or of the nearest call; may be null
    bool constant = false; ///< an onnx.Constant: no node of a module's DAG
  };

  /// A value in one frame.
  struct ValueRef {
    mlir::Value value;
    unsigned frame;
  };

  /// Fails with a diagnostic where the module has no tree, or a function that
  /// calls itself.
  static mlir::FailureOr<std::unique_ptr<TaggedGraph>>
  create(mlir::ModuleOp module);

  mlir::ModuleOp model() const { return root; }
  const ModuleTree &tree() const { return modules; }
  const TagNames &tags() const { return names; }
  llvm::ArrayRef<Node> nodes() const { return allNodes; }
  llvm::ArrayRef<Frame> frames() const { return allFrames; }
  /// Initializers: constants that are not nodes of the file.
  llvm::ArrayRef<ValueRef> initializers() const { return allInitializers; }

  /// The path of the module that a tag in a frame means. In the body of an
  /// outlined function, which several modules may share, paths are relative to
  /// the module, or start at the root with a "/".
  std::string scope(llvm::StringRef path, unsigned frame) const;
  /// The module at a scope: the nearest one where the tree lacks it.
  ModuleId module(llvm::StringRef scope) const {
    return modules.nearest(scope);
  }

  /// Where a value comes from, through calls and into them.
  ValueRef resolve(ValueRef ref) const;
  /// The operation that makes a value; nothing for inputs, initializers and
  /// missing values.
  std::optional<NodeId> producer(ValueRef ref) const;
  /// The value's name in the file, after the name of the call whose body it
  /// lies in; empty for a missing value.
  std::string valueName(ValueRef ref) const;

  /// Calls `edge(from, to)` for every edge between operations that are no
  /// constants, in the order of `to` and its inputs, each pair once.
  void forEachEdge(llvm::function_ref<void(NodeId, NodeId)> edge) const;

private:
  TaggedGraph(mlir::ModuleOp root, ModuleTree tree)
      : root(root), modules(std::move(tree)),
        names(modules, keepsTorchNN(root)), saver(allocator) {}
  TaggedGraph(const TaggedGraph &) = delete;

  friend class TaggedGraphBuilder;

  mlir::ModuleOp root;
  ModuleTree modules;
  TagNames names;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver;
  std::vector<Frame> allFrames;
  std::vector<Node> allNodes;
  std::vector<ValueRef> allInitializers;
};

} // namespace htp

#endif // HTP_TARGET_TAGGEDGRAPH_H
