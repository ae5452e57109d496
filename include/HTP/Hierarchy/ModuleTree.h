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

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// The sizes of a tensor. A large model has as many as it has parameters: each
/// with memory of its own would take longer than the rest of them.
using Shape = llvm::SmallVector<int64_t, 4>;
/// A size that differs from run to run.
inline constexpr int64_t kDynamicSize = -1;

/// A parameter or a buffer of a module.
struct Parameter {
  std::string name;        ///< within its module, such as "weight"
  bool buffer = false;     ///< a buffer, not a parameter
  bool constant = false;   ///< a tensor in the code: torch.export lifts those
  Shape shape;             ///< empty for a scalar
  std::string dtype;       ///< torch's name: "float32", "int64", "bool"
  uint64_t hash = 0;       ///< of the bytes as they lie; 0: not known
  uint64_t valuesHash = 0; ///< of the values in any order; 0: not known
  std::string sketch;      ///< Sketch.h, as text; empty: not known
  std::string tied; ///< full path of the parameter it shares storage with

  bool operator==(const Parameter &other) const;
};

/// The place of a module in its tree. The root is 0.
using ModuleId = unsigned;

/// A module of the tree. Everything but the last three fields is given, the
/// tree fills in the rest.
struct Module {
  std::string path;      ///< "encoder.layer.0"; empty for the root
  std::string className; ///< "BertLayer"; empty where it is not known
  std::string qualified; ///< with the Python module; empty where not known
  bool torchNN = false;  ///< torch.nn defines the class
  int64_t calls = 1;     ///< how often forward() ran
  std::vector<std::string> aliases; ///< other paths of the same module object
  std::vector<Parameter> parameters;

  ModuleId parent = 0;    ///< nearest module above that is in the tree
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

/// What wrote a trace, as far as it says so.
struct Producer {
  std::string name;     ///< the program
  std::string source;   ///< how it saw the model: "torchscript", "export"
  std::string exporter; ///< that made the ONNX file: "dynamo", "torchscript"
  std::string fallback; ///< why it was not the exporter of first choice

  bool empty() const {
    return name.empty() && source.empty() && exporter.empty() &&
           fallback.empty();
  }
};

/// A module tree. Immutable; every query is iterative, so that a tree of
/// thousands of levels is as good as any other.
///
/// Modules that only hold others (a ModuleList never runs) are often not given:
/// `create` adds those that lie on the path of a module, with no calls. A
/// module object that is reachable by several paths has one node for each of
/// them; `Module::canonical` says which of them is the first.
class ModuleTree {
public:
  /// A tree of a root alone, whose class is not known.
  ModuleTree();

  /// Checks and links `modules`. The first must be the root (path ""); no path
  /// may be given twice, nor have an empty component.
  static llvm::Expected<ModuleTree> create(std::vector<Module> modules);

  /// Where the tree comes from; empty where nobody said it.
  const Producer &getProducer() const { return producer; }
  void setProducer(Producer from) { producer = std::move(from); }

  static constexpr ModuleId root() { return 0; }
  size_t size() const { return modules.size(); }
  const Module &operator[](ModuleId id) const { return modules[id]; }
  llvm::ArrayRef<Module> all() const { return modules; }
  auto ids() const { return llvm::seq<ModuleId>(0, modules.size()); }

  /// The module at `path`.
  std::optional<ModuleId> find(llvm::StringRef path) const;
  bool contains(llvm::StringRef path) const { return find(path).has_value(); }
  /// The module at `path`, which may go through other names of shared modules:
  /// `also.lin` is `cell.lin` where `also` is an alias of `cell`.
  std::optional<ModuleId> resolve(llvm::StringRef path) const;

  /// The deepest module of the tree at or above `path`; the root in the end.
  ModuleId nearest(llvm::StringRef path) const;

  llvm::ArrayRef<ModuleId> children(ModuleId id) const;
  bool isAncestorOrSelf(ModuleId ancestor, ModuleId id) const;
  /// Not a module that only holds others, unless it is one of the two: nothing
  /// runs in it.
  ModuleId lowestCommonAncestor(ModuleId a, ModuleId b) const;
  /// Of any number of modules; the root where there are none.
  ModuleId lowestCommonAncestor(llvm::ArrayRef<ModuleId> several) const;
  /// The child of `ancestor` that lies on the way down to `id`, or `ancestor`
  /// itself where they are the same.
  ModuleId childTowards(ModuleId ancestor, ModuleId id) const;

  /// A parameter by its full path ("encoder.layer.0.query.weight"), with the
  /// module that owns it. An alias's parameter is found under both paths.
  struct ParameterRef {
    ModuleId module;
    const Parameter *parameter;
  };
  std::optional<ParameterRef> findParameter(llvm::StringRef path) const;
  /// The same, looked for first in `near` and the next few modules: what a
  /// module reads lies there, and the table of a large tree is far away.
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
