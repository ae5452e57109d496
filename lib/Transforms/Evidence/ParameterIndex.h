// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the parameters of a tree and finds them by contents.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETERINDEX_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETERINDEX_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace htp {

/// The number of a parameter in its tree.
using ParameterId = unsigned;

/// Numbers the parameters of a tree, which must outlive this, module by module.
/// The parameters of an alias have numbers of their own, but the identity of
/// the original's.
class ParameterIndex {
public:
  explicit ParameterIndex(const ModuleTree &tree);

  size_t size() const { return owners.size(); }
  const Parameter &operator[](ParameterId id) const {
    return tree[owners[id]].parameters[id - begins[owners[id]]];
  }
  const ModuleId &owner(ParameterId id) const { return owners[id]; }
  std::string path(ParameterId id) const;

  std::optional<ParameterId> find(llvm::StringRef path) const;

  /// The parameter that stands for this one: the first of several that are
  /// tied.
  ParameterId identity(ParameterId id) const;

  /// The parameters with these contents, without those of aliases.
  llvm::ArrayRef<ParameterId> withContent(uint64_t hash) const;
  /// The parameters with these values in any order.
  llvm::ArrayRef<ParameterId> withValues(uint64_t hash) const;
  /// Whether any parameter with known contents has this number of elements.
  bool hasSize(int64_t elements) const { return sizes.contains(elements); }

  /// The number of parameters, without aliases and constants.
  size_t count() const { return own; }

private:
  using ByHash = llvm::DenseMap<uint64_t, llvm::SmallVector<ParameterId, 1>>;

  const ModuleTree &tree;
  size_t own = 0;
  std::vector<ParameterId> begins; ///< the first of each module
  std::vector<ModuleId> owners;    ///< of each parameter
  ByHash byContent, byValues;
  llvm::DenseSet<int64_t> sizes;

  static llvm::ArrayRef<ParameterId> find(const ByHash &index, uint64_t hash);
};

/// The number of elements of a tensor of this shape.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETERINDEX_H
