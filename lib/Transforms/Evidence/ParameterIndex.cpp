// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the tables of ParameterIndex.

#include "ParameterIndex.h"

using namespace llvm;

namespace htp {

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

ParameterIndex::ParameterIndex(const ModuleTree &tree) : tree(tree) {
  begins.reserve(tree.size());
  for (ModuleId module : tree.ids()) {
    begins.push_back(size());
    bool isAlias = tree[module].canonical != module;
    for (const Parameter &parameter : tree[module].parameters) {
      ParameterId id = size();
      owners.push_back(module);
      if (isAlias)
        continue;
      own += !parameter.constant;
      if (parameter.hash)
        byContent[parameter.hash].push_back(id);
      if (parameter.valuesHash)
        byValues[parameter.valuesHash].push_back(id);
      if (parameter.hash || parameter.valuesHash)
        sizes.insert(elementCount(parameter.shape));
    }
  }
}

std::string ParameterIndex::path(ParameterId id) const {
  return joinPath(tree[owners[id]].path, (*this)[id].name);
}

std::optional<ParameterId> ParameterIndex::find(StringRef path) const {
  auto found = tree.findParameter(path);
  if (!found)
    return std::nullopt;
  return begins[found->module] +
         (found->parameter - tree[found->module].parameters.data());
}

ParameterId ParameterIndex::identity(ParameterId id) const {
  if (const std::string &tied = (*this)[id].tied; !tied.empty())
    return find(tied).value_or(id);
  return begins[tree[owners[id]].canonical] + (id - begins[owners[id]]);
}

ArrayRef<ParameterId> ParameterIndex::find(const ByHash &index, uint64_t hash) {
  auto it = index.find(hash);
  return it == index.end() ? ArrayRef<ParameterId>() : it->second;
}

ArrayRef<ParameterId> ParameterIndex::withContent(uint64_t hash) const {
  return find(byContent, hash);
}

ArrayRef<ParameterId> ParameterIndex::withValues(uint64_t hash) const {
  return find(byValues, hash);
}

} // namespace htp
