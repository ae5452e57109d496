// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of nn.Modules of a model: what a tag refers to.

#ifndef HTP_HIERARCHY_MODULETREE_H
#define HTP_HIERARCHY_MODULETREE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// The sizes of a tensor. Stored inline: a large model has one per parameter,
/// and a heap allocation for each would dominate the cost of reading the tree.
using Shape = llvm::SmallVector<int64_t, 4>;
/// A dynamic size.
inline constexpr int64_t kDynamicSize = -1;

/// A parameter or a buffer of a module.
struct Parameter {
  std::string name;        ///< within its module, such as "weight"
  bool buffer = false;     ///< a buffer, not a parameter
  bool constant = false;   ///< a tensor literal that torch.export lifted
  Shape shape;             ///< empty for a scalar
  std::string dtype;       ///< torch's name: "float32", "int64", "bool"
  uint64_t hash = 0;       ///< of the bytes as stored; 0: unknown
  uint64_t valuesHash = 0; ///< of the values in any order; 0: unknown
  std::string sketch;      ///< see Sketch.h, as text; empty: unknown
  std::string tied; ///< full path of the parameter it shares storage with

  bool operator==(const Parameter &other) const;
};

/// The index of a module in its tree. The root is 0.
using ModuleId = unsigned;

/// A module of the tree. The tree computes the last three fields; the others
/// are given.
struct Module {
  std::string path;      ///< "encoder.layer.0"; empty for the root
  std::string className; ///< "BertLayer"; empty if unknown
  std::string qualified; ///< with the Python module; empty if unknown
  bool torchNN = false;  ///< torch.nn defines the class
  int64_t calls = 1;     ///< how often forward() ran
  std::vector<std::string> aliases; ///< other paths of the same module object
  std::vector<Parameter> parameters;

  ModuleId parent = 0;    ///< nearest ancestor that is in the tree
  unsigned depth = 0;     ///< 0 for the root
  ModuleId canonical = 0; ///< itself, or the module that this is an alias of

  /// The attribute's name in its parent: what follows the last dot.
  llvm::StringRef attributeName() const {
    return llvm::StringRef(path).rsplit('.').second.empty()
               ? llvm::StringRef(path)
               : llvm::StringRef(path).rsplit('.').second;
  }
};

/// The path of a parameter: its module's path, a dot, its name.
std::string joinPath(llvm::StringRef module, llvm::StringRef name);

/// The program that wrote a trace, as far as the trace says so.
struct Producer {
  std::string name;     ///< the program
  std::string source;   ///< its view of the model: "torchscript", "export"
  std::string exporter; ///< of the ONNX file: "dynamo", "torchscript"
  std::string fallback; ///< why the preferred exporter was not used

  bool empty() const {
    return name.empty() && source.empty() && exporter.empty() &&
           fallback.empty();
  }
};

/// An immutable module tree. No query recurses, so that a tree of thousands of
/// levels does not overflow the stack.
///
/// Pure containers (a ModuleList never runs) are often missing from the input:
/// `create` adds those on the path of a given module, with no calls. A module
/// object that is reachable by several paths has one node for each of them;
/// `Module::canonical` is the first one.
class ModuleTree {
public:
  /// A tree with only a root of unknown class.
  ModuleTree();

  /// Checks and links `modules`. The first must be the root (path ""); no path
  /// may be given twice, nor have an empty component.
  static llvm::Expected<ModuleTree> create(std::vector<Module> modules);

  /// What the tree came from; empty if unknown.
  const Producer &getProducer() const { return producer; }
  void setProducer(Producer from) { producer = std::move(from); }

  static constexpr ModuleId root() { return 0; }
  size_t size() const { return modules.size(); }
  const Module &operator[](ModuleId id) const {
    assert(id < size() && "no such module in this tree");
    return modules[id];
  }
  llvm::ArrayRef<Module> all() const { return modules; }
  auto ids() const { return llvm::seq<ModuleId>(0, modules.size()); }

  /// The module at `path`.
  std::optional<ModuleId> find(llvm::StringRef path) const;
  bool contains(llvm::StringRef path) const { return find(path).has_value(); }
  /// The module at `path`, which may lead through aliases of shared modules:
  /// `also.lin` is `cell.lin` where `also` is an alias of `cell`.
  std::optional<ModuleId> resolve(llvm::StringRef path) const;

  /// The deepest module of the tree at or above `path`; the root if no other.
  ModuleId nearest(llvm::StringRef path) const;

  llvm::ArrayRef<ModuleId> children(ModuleId id) const;
  bool isAncestorOrSelf(ModuleId ancestor, ModuleId id) const;
  /// Skips pure containers, in which nothing runs, unless one is `a` or `b`
  /// itself.
  ModuleId lowestCommonAncestor(ModuleId a, ModuleId b) const;
  /// The same for any number of modules; the root if there are none.
  ModuleId lowestCommonAncestor(llvm::ArrayRef<ModuleId> several) const;
  /// The child of `ancestor` on the way down to `id`; `ancestor` itself if they
  /// are the same.
  ModuleId childTowards(ModuleId ancestor, ModuleId id) const;

  /// A parameter by its full path ("encoder.layer.0.query.weight"), with the
  /// module that owns it. An alias's parameter is found under both paths.
  struct ParameterRef {
    ModuleId module;
    const Parameter *parameter;
  };
  std::optional<ParameterRef> findParameter(llvm::StringRef path) const;
  /// The same, but searches `near` and the next few modules first. Modules
  /// mostly read their own parameters, and that avoids a cache miss in the hash
  /// table of a large tree.
  std::optional<ParameterRef> findParameter(llvm::StringRef path,
                                            ModuleId near) const;

private:
  std::vector<Module> modules;
  llvm::StringMap<ModuleId> byPath;
  /// Children of module i: childList[childBegin[i] .. childBegin[i + 1]).
  std::vector<unsigned> childBegin;
  std::vector<ModuleId> childList;
  bool hasAliases = false;
  Producer producer;

  llvm::Error link();
  ModuleId findParent(ModuleId id) const;
};

} // namespace htp

#endif // HTP_HIERARCHY_MODULETREE_H
