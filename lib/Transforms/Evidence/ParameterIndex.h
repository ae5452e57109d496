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
/// Those of an alias have numbers of their own, and the identity of the first.
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

  /// The representative of the parameter: the first of tied ones.
  ParameterId identity(ParameterId id) const;

  /// Parameters with these contents, those of aliases left out.
  llvm::ArrayRef<ParameterId> withContent(uint64_t hash) const;
  /// The same with their values in any order.
  llvm::ArrayRef<ParameterId> withValues(uint64_t hash) const;
  /// Whether any parameter whose contents are known has so many elements.
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
