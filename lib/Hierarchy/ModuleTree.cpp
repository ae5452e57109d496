// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building the module tree (parents, containers, aliases) and queries on it.

#include "HTP/Hierarchy/ModuleTree.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <cassert>

using namespace llvm;

namespace htp {

bool Parameter::operator==(const Parameter &other) const {
  return name == other.name && buffer == other.buffer &&
         constant == other.constant && shape == other.shape &&
         dtype == other.dtype && hash == other.hash &&
         valuesHash == other.valuesHash && tied == other.tied;
}

std::string joinPath(StringRef module, StringRef name) {
  return module.empty() ? name.str() : (module + "." + name).str();
}

/// How long a path may get while its aliases are replaced.
static constexpr size_t kLongestDetour = 4096;

static Error malformed(const Twine &message) {
  return createStringError(message);
}

/// The path without its last component; empty for a child of the root.
static StringRef parentPath(StringRef path) {
  size_t dot = path.rfind('.');
  return dot == StringRef::npos ? StringRef() : path.take_front(dot);
}

ModuleTree::ModuleTree() : modules(1), childBegin(2, 0) { byPath[""] = 0; }

static bool hasEmptyComponent(StringRef path) {
  return path.starts_with(".") || path.ends_with(".") || path.contains("..");
}

/// Adds missing ancestors of modules, each right before its first descendant.
/// All that is known is that they never ran; they are assumed to be torch.nn
/// containers, which tags leave out.
static void addContainers(std::vector<Module> &modules) {
  StringSet<> known;
  for (const Module &module : modules) {
    known.insert(module.path);
    for (StringRef alias : module.aliases)
      known.insert(alias);
  }
  std::vector<Module> all;
  all.reserve(modules.size());
  for (Module &module : modules) {
    SmallVector<StringRef> missing;
    StringRef start =
        hasEmptyComponent(module.path) ? StringRef() : StringRef(module.path);
    for (StringRef path = parentPath(start);
         !path.empty() && known.insert(path).second; path = parentPath(path))
      missing.push_back(path);
    for (StringRef path : reverse(missing)) {
      Module &container = all.emplace_back();
      container.path = path.str();
      container.torchNN = true;
      container.calls = 0;
    }
    all.push_back(std::move(module));
  }
  modules = std::move(all);
}

Expected<ModuleTree> ModuleTree::create(std::vector<Module> modules) {
  if (modules.empty() || !modules.front().path.empty())
    return malformed("the first module must be the root, whose path is empty");
  ModuleTree tree;
  addContainers(modules);
  tree.modules = std::move(modules);
  tree.byPath = StringMap<ModuleId>(tree.modules.size());
  if (Error error = tree.link())
    return error;
  return tree;
}

Error ModuleTree::link() {
  // Append a node for each alias.
  for (size_t i = 0, given = modules.size(); i < given; ++i) {
    modules[i].canonical = i;
    // Take the list of aliases out first, so that copies of the module lack it.
    std::vector<std::string> aliases = std::exchange(modules[i].aliases, {});
    const Module original = modules[i];
    for (const std::string &alias : aliases) {
      modules.push_back(original);
      modules.back().path = alias;
    }
    hasAliases |= !aliases.empty();
    modules[i].aliases = std::move(aliases);
  }
  for (ModuleId id : ids()) {
    StringRef path = modules[id].path;
    if (hasEmptyComponent(path))
      return malformed("module path '" + path + "' has an empty component");
    if (!byPath.try_emplace(path, id).second)
      return malformed("module path '" + path + "' is given twice");
  }

  for (ModuleId id : drop_begin(ids()))
    modules[id].parent = findParent(id);
  for (ModuleId id : ids()) {
    modules[id].depth = 0;
    for (ModuleId above = id; above != root(); above = modules[above].parent)
      ++modules[id].depth;
  }

  childBegin.assign(size() + 1, 0);
  for (ModuleId id : drop_begin(ids()))
    ++childBegin[modules[id].parent + 1];
  for (size_t i = 0; i < size(); ++i)
    childBegin[i + 1] += childBegin[i];
  childList.resize(size() - 1);
  std::vector<unsigned> next(childBegin.begin(), childBegin.end() - 1);
  for (ModuleId id : drop_begin(ids()))
    childList[next[modules[id].parent]++] = id;
  assert(childBegin.back() == childList.size() && "each module has a parent");
  return Error::success();
}

/// The parent of a module; all modules before it must be linked. It is usually
/// the previous module or one of its ancestors, which avoids a lookup by path.
ModuleId ModuleTree::findParent(ModuleId id) const {
  assert(id != root() && id < size() && "the root has no parent");
  StringRef path = parentPath(modules[id].path);
  for (ModuleId before = id - 1; modules[before].path.size() >= path.size();
       before = modules[before].parent) {
    if (modules[before].path == path)
      return before;
    if (before == root())
      break;
  }
  return nearest(path);
}

std::optional<ModuleId> ModuleTree::find(StringRef path) const {
  auto it = byPath.find(path);
  return it == byPath.end() ? std::nullopt : std::optional(it->second);
}

std::optional<ModuleId> ModuleTree::resolve(StringRef path) const {
  std::string text = path.str();
  // An alias may lie inside the module that it names, so bound the number of
  // steps.
  for (size_t steps = 0; steps <= size(); ++steps) {
    if (std::optional<ModuleId> id = find(text))
      return id;
    StringRef prefix = hasAliases ? parentPath(text) : StringRef();
    for (; !prefix.empty(); prefix = parentPath(prefix))
      if (auto id = find(prefix); id && modules[*id].canonical != *id) {
        text = joinPath(modules[modules[*id].canonical].path,
                        StringRef(text).drop_front(prefix.size() + 1));
        break;
      }
    if (prefix.empty() || text.size() > path.size() + kLongestDetour)
      return std::nullopt;
  }
  return std::nullopt;
}

ModuleId ModuleTree::nearest(StringRef path) const {
  for (; !path.empty(); path = parentPath(path))
    if (std::optional<ModuleId> id = find(path))
      return *id;
  return root();
}

ArrayRef<ModuleId> ModuleTree::children(ModuleId id) const {
  assert(id < size() && "no such module in this tree");
  return ArrayRef(childList).slice(childBegin[id],
                                   childBegin[id + 1] - childBegin[id]);
}

bool ModuleTree::isAncestorOrSelf(ModuleId ancestor, ModuleId id) const {
  assert(ancestor < size() && id < size() && "no such module in this tree");
  while (modules[id].depth > modules[ancestor].depth)
    id = modules[id].parent;
  return id == ancestor;
}

ModuleId ModuleTree::lowestCommonAncestor(ModuleId a, ModuleId b) const {
  assert(a < size() && b < size() && "no such module in this tree");
  ModuleId first = a, second = b;
  while (a != b) {
    if (modules[a].depth < modules[b].depth)
      std::swap(a, b);
    a = modules[a].parent;
  }
  while (a != first && a != second && a != root() && modules[a].calls == 0)
    a = modules[a].parent;
  return a;
}

ModuleId ModuleTree::lowestCommonAncestor(ArrayRef<ModuleId> several) const {
  if (several.empty())
    return root();
  ModuleId common = several.front();
  for (ModuleId id : several.drop_front())
    common = lowestCommonAncestor(common, id);
  return common;
}

ModuleId ModuleTree::childTowards(ModuleId ancestor, ModuleId id) const {
  assert(ancestor < size() && id < size() && "no such module in this tree");
  while (id != ancestor && modules[id].parent != ancestor &&
         modules[id].depth > modules[ancestor].depth)
    id = modules[id].parent;
  return id;
}

std::optional<ModuleTree::ParameterRef>
ModuleTree::findParameter(StringRef path, ModuleId near) const {
  assert(near < size() && "no such module in this tree");
  constexpr size_t kNearby = 8;
  for (ModuleId id = near, end = std::min(near + kNearby, size()); id < end;
       ++id) {
    StringRef name = path;
    bool inside = name.consume_front(modules[id].path) &&
                  (id == root() || name.consume_front("."));
    if (!inside)
      continue;
    for (const Parameter &parameter : modules[id].parameters)
      if (parameter.name == name)
        return ParameterRef{id, &parameter};
  }
  return findParameter(path);
}

std::optional<ModuleTree::ParameterRef>
ModuleTree::findParameter(StringRef path) const {
  // A parameter's name may contain dots (ParameterDict, ParameterList), so try
  // every split, longest module path first.
  auto search = [&](auto findModule) -> std::optional<ParameterRef> {
    for (size_t dot = path.rfind('.');; dot = path.take_front(dot).rfind('.')) {
      bool atRoot = dot == StringRef::npos;
      if (auto id = findModule(atRoot ? StringRef() : path.take_front(dot))) {
        StringRef name = atRoot ? path : path.drop_front(dot + 1);
        for (const Parameter &parameter : modules[*id].parameters)
          if (parameter.name == name)
            return ParameterRef{*id, &parameter};
      }
      if (atRoot)
        return std::nullopt;
    }
  };
  if (auto found = search([&](StringRef module) { return find(module); }))
    return found;
  return hasAliases ? search([&](StringRef module) { return resolve(module); })
                    : std::nullopt;
}

} // namespace htp
