// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extracts a subtree: relative paths, and call counts per call of its root.

#include "HTP/Hierarchy/Subtree.h"

using namespace llvm;

namespace htp {

std::optional<std::string> pathWithin(StringRef base, StringRef path) {
  if (base.empty())
    return path.str();
  if (!path.consume_front(base))
    return std::nullopt;
  if (path.empty())
    return std::string();
  if (!path.consume_front("."))
    return std::nullopt;
  return path.str();
}

ModuleTree subtree(const ModuleTree &tree, ModuleId root) {
  const std::string &base = tree[root].path;
  std::vector<Module> modules;
  for (ModuleId id : tree.ids()) {
    const Module &module = tree[id];
    std::optional<std::string> path = pathWithin(base, module.path);
    // ModuleTree::create adds nodes for aliases again if the canonical module
    // is inside, too.
    if (!path || (module.canonical != id &&
                  pathWithin(base, tree[module.canonical].path)))
      continue;
    Module inner = module;
    inner.path = *path;
    inner.aliases.clear();
    if (module.canonical == id)
      for (const std::string &alias : module.aliases)
        if (std::optional<std::string> within = pathWithin(base, alias);
            within && !within->empty())
          inner.aliases.push_back(*within);
    if (inner.calls)
      inner.calls = std::max<int64_t>(
          1, inner.calls / std::max<int64_t>(1, tree[root].calls));
    for (Parameter &parameter : inner.parameters)
      if (!parameter.tied.empty())
        parameter.tied = pathWithin(base, parameter.tied).value_or("");
    if (path->empty())
      modules.insert(modules.begin(), std::move(inner));
    else
      modules.push_back(std::move(inner));
  }
  if (!modules.empty()) {
    modules.front().torchNN = false; // irrelevant for a root
    modules.front().aliases.clear();
  }
  ModuleTree subtree = cantFail(ModuleTree::create(std::move(modules)));
  subtree.setProducer(tree.getProducer());
  return subtree;
}

} // namespace htp
