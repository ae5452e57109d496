// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recovers modules from the names and metadata that PyTorch's exporters leave
// in a graph.
//
// The TorchScript-based exporter names a node "/a/b.0/c/MatMul_1" and its
// values "/a/b.0/c/MatMul_1_output_0". Each part between slashes stands for a
// module on the call stack: the end of its path from the last component that
// is not a number. So a child of a called Sequential repeats it
// ("/layer/layer.0"), and a module whose forward() never ran is left out. A
// second call adds "_1" to the last part.
//
// The torch.export-based exporter notes on each node the paths and classes of
// the modules on the stack, and the name of the traced value, as Python lists.

#ifndef HTP_HIERARCHY_SCOPES_H
#define HTP_HIERARCHY_SCOPES_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// A module and one of its calls.
struct ModuleCall {
  ModuleId module = 0;
  int64_t call = 0;

  bool operator==(const ModuleCall &other) const {
    return module == other.module && call == other.call;
  }
};

//===----------------------------------------------------------------------===//
// TorchScript-based exporter
//===----------------------------------------------------------------------===//

/// The scope of a node's or a value's name: what comes before the last slash
/// ("/a/b.0/c"; "" is the root). Nothing for a name that has no scope.
std::optional<llvm::StringRef> scopeOf(llvm::StringRef name);

/// What a module is called in a scope: the end of its path, from the last
/// component that is not a number.
llvm::StringRef scopeComponent(llvm::StringRef path);

/// Resolves scopes against a tree. An ambiguous scope resolves to nothing. The
/// index is built on first use, as many models have no scopes.
class ScopeResolver {
public:
  explicit ScopeResolver(const ModuleTree &tree) : tree(tree) {}

  /// The module of a scope.
  std::optional<ModuleCall> resolve(llvm::StringRef scope) const;

  /// The module that a node's name implies. Optimizers append to the name of a
  /// node that they fuse ("/a/b/MatMul/MatMulAddFusion"): if the last part is
  /// not `opType`, the part before it may not belong to the scope either.
  std::optional<ModuleCall> resolveNode(llvm::StringRef name,
                                        llvm::StringRef opType) const;

  /// The module that a value's name implies.
  std::optional<ModuleCall> resolveValue(llvm::StringRef name) const;

private:
  const ModuleTree &tree;
  /// Modules by their full scope: one part for each ancestor that runs itself.
  mutable llvm::StringMap<llvm::SmallVector<ModuleId, 1>> byScope;
  /// Modules by the last part of their scope.
  mutable llvm::StringMap<llvm::SmallVector<ModuleId, 1>> byComponent;
  mutable llvm::StringMap<std::optional<ModuleId>> known;

  void index() const;
  std::optional<ModuleId> lookUp(llvm::StringRef scope) const;
  std::optional<ModuleId> search(llvm::StringRef scope) const;
};

/// Reconstructs a tree from scopes and from the names of parameters, which are
/// paths. Classes stay unknown.
ModuleTree treeFromScopes(llvm::ArrayRef<llvm::StringRef> scopes,
                          llvm::ArrayRef<llvm::StringRef> parameters);

//===----------------------------------------------------------------------===//
// torch.export-based exporter
//===----------------------------------------------------------------------===//

/// The module stack that the exporter stores in a node's metadata.
struct ExportScope {
  struct Frame {
    std::string path; ///< without the "@1" of a second call
    int64_t call = 0;
    std::string qualified; ///< the class; empty if missing
  };
  std::vector<Frame> frames; ///< from the root down
  std::string value;         ///< the traced value
};

/// Parses `pkg.torch.onnx.name_scopes` and, if not empty,
/// `pkg.torch.onnx.class_hierarchy`. Returns nothing if they are not in the
/// format of the exporter.
std::optional<ExportScope> parseExportScope(llvm::StringRef nameScopes,
                                            llvm::StringRef classHierarchy);

/// Parses a list of strings as Python prints it.
std::optional<std::vector<std::string>> parsePythonList(llvm::StringRef text);

/// A line of Python code.
struct SourceLine {
  std::string file;
  unsigned line = 0;
};

/// The innermost line of a Python stack trace outside PyTorch itself, as in
/// `pkg.torch.onnx.stack_trace`.
std::optional<SourceLine> lastSourceLine(llvm::StringRef stackTrace);

/// Reconstructs the module tree from such metadata.
class ExportTreeBuilder {
public:
  void add(const ExportScope &scope);
  /// Adds parameters, given by path, to the modules that own them.
  void addParameters(llvm::ArrayRef<llvm::StringRef> names);
  bool empty() const { return modules.empty(); }
  ModuleTree build();

private:
  std::vector<Module> modules;
  llvm::StringMap<size_t> byPath;
};

} // namespace htp

#endif // HTP_HIERARCHY_SCOPES_H
