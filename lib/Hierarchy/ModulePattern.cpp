// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matching modules by path, tag, pattern or class, with suggestions for
// misspelled names.

#include "HTP/Hierarchy/ModulePattern.h"
#include "HTP/Hierarchy/TagNames.h"

#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace htp {

bool isModulePattern(StringRef text) {
  return text.find_first_of("*?[") != StringRef::npos;
}

namespace {
/// A path pattern, split into components.
class PathGlob {
public:
  static Expected<PathGlob> create(StringRef text) {
    PathGlob glob;
    SmallVector<StringRef> parts;
    text.split(parts, '.');
    for (StringRef part : parts) {
      Component &component = glob.components.emplace_back();
      component.any = part == "**";
      if (component.any)
        continue;
      Expected<GlobPattern> pattern = GlobPattern::create(part);
      if (!pattern)
        return pattern.takeError();
      component.pattern = std::move(*pattern);
    }
    return glob;
  }

  /// Simulates an NFA whose states are the pattern's components, so that
  /// patterns with many "**" do not take exponential time.
  bool matches(StringRef path) const {
    SmallVector<StringRef> parts;
    if (!path.empty())
      path.split(parts, '.');
    std::vector<bool> at(components.size() + 1, false);
    at[0] = true;
    skipAny(at);
    for (StringRef part : parts) {
      std::vector<bool> next(at.size(), false);
      for (size_t i = 0; i < components.size(); ++i) {
        if (!at[i])
          continue;
        if (components[i].any)
          next[i] = true;
        else if (components[i].pattern.match(part))
          next[i + 1] = true;
      }
      at = std::move(next);
      skipAny(at);
    }
    return at.back();
  }

private:
  struct Component {
    bool any = false;
    GlobPattern pattern;
  };

  void skipAny(std::vector<bool> &at) const {
    for (size_t i = 0; i < components.size(); ++i)
      if (at[i] && components[i].any)
        at[i + 1] = true;
  }

  std::vector<Component> components;
};
} // namespace

StringRef nearestName(StringRef text, ArrayRef<StringRef> names) {
  StringRef best;
  unsigned bestDistance = text.size() / 2 + 2;
  for (StringRef name : names) {
    unsigned distance =
        text.edit_distance(name, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

static Error notFound(const Twine &message, StringRef text,
                      ArrayRef<StringRef> names) {
  StringRef nearest = nearestName(text, names);
  return createStringError(
      nearest.empty() ? message.str()
                      : (message + "; did you mean '" + nearest + "'?").str());
}

Expected<std::vector<ModuleId>> findModulesOfClass(const ModuleTree &tree,
                                                   StringRef className) {
  std::vector<ModuleId> found;
  std::vector<StringRef> names;
  for (ModuleId id : tree.ids()) {
    const Module &module = tree[id];
    if (!className.empty() &&
        (module.className == className || module.qualified == className))
      found.push_back(id);
    names.insert(names.end(), {module.className, module.qualified});
  }
  if (found.empty())
    return notFound("no module is of class '" + className + "'", className,
                    names);
  return found;
}

Expected<std::vector<ModuleId>> findModules(const ModuleTree &tree,
                                            StringRef text) {
  if (text.starts_with("/")) {
    TagNames tags(tree);
    if (std::optional<ModuleId> id = tags.find(text))
      return std::vector<ModuleId>{*id};
    std::vector<StringRef> names;
    for (ModuleId id : tree.ids())
      names.push_back(tags[id]);
    return notFound("no module has the tag '" + text + "'", text, names);
  }
  // Nodes of a shared module are tagged with its canonical path.
  if (std::optional<ModuleId> id = tree.resolve(text))
    return std::vector<ModuleId>{tree[*id].canonical};
  std::vector<StringRef> paths;
  for (const Module &module : tree.all())
    paths.push_back(module.path);
  if (!isModulePattern(text))
    return notFound("there is no module '" + text + "' in the module tree",
                    text, paths);

  Expected<PathGlob> glob = PathGlob::create(text);
  if (!glob)
    return joinErrors(
        createStringError("'" + text + "' is not a valid pattern"),
        glob.takeError());
  std::vector<ModuleId> found;
  std::vector<bool> seen(tree.size());
  for (ModuleId id : tree.ids())
    if (ModuleId canonical = tree[id].canonical;
        !seen[canonical] && glob->matches(tree[id].path)) {
      seen[canonical] = true;
      found.push_back(canonical);
    }
  if (found.empty())
    return createStringError("no module's path matches '" + text +
                             "' ('*' "
                             "stays within a component, '**' does not)");
  return found;
}

} // namespace htp
