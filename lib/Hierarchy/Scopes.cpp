// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves scopes of the TorchScript-based exporter, and infers a tree from
// them.

#include "HTP/Hierarchy/Scopes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace htp {

static bool isNumber(StringRef text) {
  return !text.empty() && all_of(text, isDigit);
}

std::optional<StringRef> scopeOf(StringRef name) {
  if (!name.starts_with("/"))
    return std::nullopt;
  return name.take_front(name.rfind('/'));
}

StringRef scopeComponent(StringRef path) {
  size_t begin = path.size() + 1;
  while (begin) {
    size_t dot = path.take_front(begin - 1).rfind('.');
    size_t start = dot == StringRef::npos ? 0 : dot + 1;
    if (!isNumber(path.slice(start, begin - 1)))
      return path.drop_front(start);
    begin = start;
  }
  return path;
}

/// "attention_1" as {"attention", 1}; nothing for a name without a number.
static std::optional<std::pair<StringRef, int64_t>> splitCall(StringRef text) {
  auto [stem, number] = text.rsplit('_');
  int64_t call;
  if (stem.empty() || !isNumber(number) || number.getAsInteger(10, call) ||
      call == 0)
    return std::nullopt;
  return std::make_pair(stem, call);
}

/// The last part of a scope.
static StringRef lastPart(StringRef scope) {
  return scope.drop_front(scope.rfind('/') + 1);
}

//===----------------------------------------------------------------------===//
// ScopeResolver
//===----------------------------------------------------------------------===//

void ScopeResolver::index() const {
  // A module's scope extends its parent's, so visit the tree top-down.
  std::vector<std::string> scopes(tree.size());
  std::vector<ModuleId> order = {ModuleTree::root()};
  for (size_t i = 0; i < order.size(); ++i)
    append_range(order, tree.children(order[i]));
  byScope[""].push_back(ModuleTree::root());
  for (ModuleId id : drop_begin(order)) {
    const Module &module = tree[id];
    StringRef component = scopeComponent(module.path);
    scopes[id] = scopes[module.parent];
    if (module.calls > 0)
      scopes[id] += ("/" + component).str();
    // The exporter uses only the first path of a shared module.
    if (module.canonical != id)
      continue;
    if (module.calls > 0)
      byScope[scopes[id]].push_back(id);
    byComponent[component].push_back(id);
  }
}

std::optional<ModuleId> ScopeResolver::lookUp(StringRef scope) const {
  if (byScope.empty())
    index();
  auto it = byScope.find(scope);
  if (it != byScope.end())
    return it->second.size() == 1 ? std::optional(it->second.front())
                                  : std::nullopt;
  auto [entry, isNew] = known.try_emplace(scope);
  if (isNew)
    entry->second = search(scope);
  return entry->second;
}

/// Resolves a scope that is not in the index, as a module may be called without
/// its parents being called. Finds the one module whose ancestors include the
/// scope's parts in order.
std::optional<ModuleId> ScopeResolver::search(StringRef scope) const {
  auto candidates = byComponent.find(lastPart(scope));
  if (candidates == byComponent.end())
    return std::nullopt;
  SmallVector<StringRef> parts;
  scope.drop_front().split(parts, '/');
  std::optional<ModuleId> found;
  for (ModuleId id : candidates->second) {
    ArrayRef<StringRef> left = ArrayRef(parts).drop_back();
    for (ModuleId at = id; at != ModuleTree::root() && !left.empty();) {
      at = tree[at].parent;
      if (scopeComponent(tree[at].path) == left.back())
        left = left.drop_back();
    }
    if (!left.empty())
      continue;
    if (found)
      return std::nullopt;
    found = id;
  }
  return found;
}

std::optional<ModuleCall> ScopeResolver::resolve(StringRef scope) const {
  std::optional<ModuleId> plain = lookUp(scope), repeated;
  auto split = splitCall(scope);
  if (split) {
    repeated = lookUp(split->first);
    if (repeated && tree[*repeated].calls <= split->second)
      repeated = std::nullopt;
  }
  if (plain && repeated)
    return std::nullopt;
  if (plain)
    return ModuleCall{*plain, 0};
  if (repeated)
    return ModuleCall{*repeated, split->second};
  return std::nullopt;
}

/// Whether `text` is `opType`, perhaps followed by a number ("MatMul_1").
static bool namesOp(StringRef text, StringRef opType) {
  return text.consume_front(opType) &&
         (text.empty() || (text.consume_front("_") && isNumber(text)));
}

std::optional<ModuleCall> ScopeResolver::resolveNode(StringRef name,
                                                     StringRef opType) const {
  std::optional<StringRef> scope = scopeOf(name);
  if (!scope)
    return std::nullopt;
  std::optional<ModuleCall> answer = resolve(*scope);
  if (answer || namesOp(lastPart(name), opType) || scope->empty())
    return answer;
  return resolve(*scopeOf(*scope));
}

std::optional<ModuleCall> ScopeResolver::resolveValue(StringRef name) const {
  std::optional<StringRef> scope = scopeOf(name);
  return scope ? resolve(*scope) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// A tree from scopes
//===----------------------------------------------------------------------===//

/// Whether every component of `path` has a name.
static bool isPath(StringRef path) {
  return !path.empty() && !path.starts_with(".") && !path.ends_with(".") &&
         !path.contains("..");
}

/// The path without its last component; empty for a child of the root.
static StringRef parentPath(StringRef path) {
  return path.contains('.') ? path.rsplit('.').first : StringRef();
}

namespace {
/// Finds the path of each scope's module.
class ScopePaths {
public:
  ScopePaths(ArrayRef<StringRef> scopes, ArrayRef<StringRef> parameters) {
    for (StringRef scope : scopes)
      seen.insert(scope);
    for (StringRef parameter : parameters)
      for (StringRef path = parentPath(parameter); !path.empty();
           path = parentPath(path))
        if (certain.insert(path).second)
          bySuffix[scopeComponent(path)].push_back(path);
  }

  /// The module and call of a scope. The enclosing scope must be queried first.
  std::pair<std::string, int64_t> find(StringRef scope);

private:
  StringSet<> seen;
  StringSet<> certain; ///< paths that a parameter's name proves
  StringMap<SmallVector<StringRef>> bySuffix;
  StringMap<std::string> pathOf;

  std::string choose(StringRef above, StringRef aboveScope, StringRef part);
  bool skipsOne(StringRef above, StringRef aboveScope, StringRef path) const;
};
} // namespace

/// Whether a module between `above` and `path` is known to run in `aboveScope`.
/// Then `path` is not called by `above` directly, or the scope would name that
/// module.
bool ScopePaths::skipsOne(StringRef above, StringRef aboveScope,
                          StringRef path) const {
  for (path = parentPath(path); path.size() > above.size();
       path = parentPath(path))
    if (seen.contains((aboveScope + "/" + scopeComponent(path)).str()))
      return true;
  return false;
}

/// The path of the module with scope component `part` called by `above`, whose
/// scope is `aboveScope`.
std::string ScopePaths::choose(StringRef above, StringRef aboveScope,
                               StringRef part) {
  std::string below = joinPath(above, part);
  if (certain.contains(below))
    return below;
  // A child of a called Sequential repeats its name ("/layer/layer.0").
  StringRef index = part;
  if (!aboveScope.empty() && index.consume_front(lastPart(aboveScope)) &&
      index.starts_with("."))
    return (above + index).str();
  // Modules in between that never ran are missing from the scope.
  std::string inside = above.empty() ? "" : above.str() + ".";
  auto it = bySuffix.find(part);
  if (it != bySuffix.end()) {
    auto isInside = [&](StringRef path) {
      return path.starts_with(inside) && !skipsOne(above, aboveScope, path);
    };
    if (count_if(it->second, isInside) == 1)
      return find_if(it->second, isInside)->str();
  }
  return below;
}

std::pair<std::string, int64_t> ScopePaths::find(StringRef scope) {
  StringRef aboveScope = scope.take_front(scope.rfind('/'));
  StringRef above = pathOf[aboveScope];
  StringRef part = lastPart(scope);
  int64_t call = 0;
  auto split = splitCall(scope);
  if (split && seen.contains(split->first) &&
      !certain.contains(joinPath(above, part))) {
    part = lastPart(split->first);
    call = split->second;
  }
  std::string path = choose(above, aboveScope, part);
  pathOf[scope] = path;
  return {path, call};
}

ModuleTree treeFromScopes(ArrayRef<StringRef> scopes,
                          ArrayRef<StringRef> parameterNames) {
  auto parameters = to_vector(make_filter_range(parameterNames, isPath));
  // Every scope and its enclosing scopes, outer ones first.
  SetVector<StringRef> all;
  for (StringRef scope : scopes) {
    SmallVector<StringRef> parts;
    scope.drop_front(scope.starts_with("/")).split(parts, '/');
    size_t end = 0;
    for (StringRef part : parts) {
      if (!isPath(part))
        break;
      all.insert(scope.take_front(end += 1 + part.size()));
    }
  }
  ScopePaths paths(all.getArrayRef(), parameters);

  std::vector<Module> modules(1);
  StringMap<size_t> byPath;
  byPath[""] = 0;
  auto at = [&](StringRef path) -> Module & {
    auto [it, isNew] = byPath.try_emplace(path, modules.size());
    if (isNew) {
      modules.emplace_back().path = path.str();
      modules.back().calls = 0;
    }
    return modules[it->second];
  };
  for (StringRef scope : all) {
    auto [path, call] = paths.find(scope);
    Module &module = at(path);
    module.calls = std::max(module.calls, call + 1);
  }
  for (StringRef name : parameters) {
    Parameter parameter;
    parameter.name = name.drop_front(name.rfind('.') + 1).str();
    at(parentPath(name)).parameters.push_back(std::move(parameter));
  }
  return cantFail(ModuleTree::create(std::move(modules)));
}

} // namespace htp
