// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The view of a tagged model on which all side outputs are based: operations
// with stable, unique names and their modules, and the edges between them.

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

/// `text` with every byte that is not valid UTF-8 written as `\xNN`, so that
/// different names stay different.
std::string validUTF8(llvm::StringRef text);

/// A flattened view of a model. It refers to the module and must not outlive
/// it.
///
/// A call of a function that the module defines (in an outlined model) does not
/// count as an operation. Instead, the function's operations appear once per
/// call, named `<call>/<operation>`, in the module that the call stands for.
///
/// Every operation has a unique name: its `onnx_node_name` or, if that is
/// missing, its type. A missing or repeated name is followed by `#` and the
/// position in the file, counting operations in the bodies of If, Loop and
/// Scan.
class TaggedGraph {
public:
  using NodeId = unsigned;

  /// One instance of a function's body: the main graph, or one for each call.
  struct Frame {
    mlir::Operation *function = nullptr;
    /// The call that made it; null for an entry function.
    mlir::Operation *call = nullptr;
    unsigned caller = 0;   ///< the frame that contains the call
    llvm::StringRef name;  ///< of the call; empty for an entry function
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
    ModuleId module = 0; ///< valid if `tag` is set
    /// Its own, or that of the nearest call; may be null.
    TagAttr tag;
    bool constant = false; ///< an onnx.Constant: not part of a module's DAG
  };

  /// A value in one frame.
  struct ValueRef {
    mlir::Value value;
    unsigned frame;
  };

  /// Fails with a diagnostic if the module has no tree or a recursive function.
  static mlir::FailureOr<std::unique_ptr<TaggedGraph>>
  create(mlir::ModuleOp module);

  mlir::ModuleOp model() const { return root; }
  const ModuleTree &tree() const { return modules; }
  const TagNames &tags() const { return names; }
  llvm::ArrayRef<Node> nodes() const { return allNodes; }
  llvm::ArrayRef<Frame> frames() const { return allFrames; }
  /// Initializers: constants that the file stores outside of its nodes.
  llvm::ArrayRef<ValueRef> initializers() const { return allInitializers; }

  /// The absolute path that `path` stands for in the body of a frame. Outlined
  /// functions may be shared, so paths in them are relative to the module of
  /// the call, or start at the root with a "/".
  std::string scope(llvm::StringRef path, unsigned frame) const;
  /// The module at `scope`, or its nearest ancestor if the tree lacks it.
  ModuleId module(llvm::StringRef scope) const {
    return modules.nearest(scope);
  }

  /// The origin of a value, followed out of and into calls.
  ValueRef resolve(ValueRef ref) const;
  /// The operation that produces a value; nothing for inputs, initializers and
  /// absent values.
  std::optional<NodeId> producer(ValueRef ref) const;
  /// The value's name in the file, prefixed with the name of the call whose
  /// body it is in; empty for an absent value.
  std::string valueName(ValueRef ref) const;

  /// Calls `edge(from, to)` for every pair of connected operations, constants
  /// excluded, in the order of `to` and its inputs.
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
