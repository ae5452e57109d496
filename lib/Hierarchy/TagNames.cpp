// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes tags from class names, and the shortest suffixes that make them
// unique.

#include "HTP/Hierarchy/TagNames.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>

using namespace llvm;

namespace htp {

/// How many components `path` has.
static size_t componentCount(StringRef path) {
  return path.empty() ? 0 : 1 + path.count('.');
}

/// The last `size` components of `path`, or all of it.
static StringRef tail(StringRef path, size_t size) {
  size_t begin = path.size();
  for (; size; --size) {
    size_t dot = path.take_front(begin).rfind('.');
    if (dot == StringRef::npos)
      return path;
    begin = dot;
  }
  return path.drop_front(begin + 1);
}

/// The number of trailing components that two paths have in common.
static size_t commonTail(StringRef a, StringRef b) {
  size_t count = 0;
  while (!a.empty() && !b.empty()) {
    StringRef endA = tail(a, 1), endB = tail(b, 1);
    if (endA != endB)
      break;
    ++count;
    a = a.drop_back(std::min(a.size(), endA.size() + 1));
    b = b.drop_back(std::min(b.size(), endB.size() + 1));
  }
  return count;
}

/// The number of trailing components needed to tell all of `paths` apart.
/// Sorted by their reversed text, the most similar paths are adjacent.
static size_t distinctTailSize(std::vector<StringRef> paths) {
  llvm::sort(paths, [](StringRef a, StringRef b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(),
                                        b.rend());
  });
  size_t size = 1;
  for (size_t i = 1; i < paths.size(); ++i)
    size = std::max(size, 1 + commonTail(paths[i - 1], paths[i]));
  return size;
}

static bool isNumber(StringRef text) {
  return !text.empty() && all_of(text, isDigit);
}

namespace {
/// Modules of one class with the same parent tag.
struct Peers {
  std::vector<StringRef> paths;
  size_t tailSize = 1;
};
using PeerKey = std::pair<ModuleId, StringRef>;
} // namespace

static std::string component(const Module &module, const Peers &peers) {
  StringRef path = module.path;
  bool listElement = isNumber(module.attributeName());
  if (!module.className.empty() && peers.paths.size() == 1 && !listElement)
    return module.className;
  size_t size = peers.tailSize;
  if (!module.className.empty())
    return module.className + "." + tail(path, size).str();
  // A number alone means nothing: use "layer.0", not "0".
  while (size < componentCount(path) &&
         isNumber(tail(path, size).split('.').first))
    ++size;
  return tail(path, size).str();
}

TagNames::TagNames(const ModuleTree &tree, bool keepTorchNN)
    : owner(tree.size()), tags(tree.size()) {
  // Parents may come after their children (aliases), so visit top-down.
  std::vector<ModuleId> order = {ModuleTree::root()};
  order.reserve(tree.size());
  for (size_t i = 0; i < order.size(); ++i)
    llvm::append_range(order, tree.children(order[i]));
  assert(order.size() == tree.size() && "the root holds all modules");

  std::vector<ModuleId> above(tree.size(), ModuleTree::root());
  DenseMap<PeerKey, Peers> peers;
  for (ModuleId id : order) {
    const Module &module = tree[id];
    // Containers added by ModuleTree have no class, so they cannot be named.
    bool skipped = module.torchNN && id != ModuleTree::root() &&
                   (!keepTorchNN || module.className.empty());
    if (id != ModuleTree::root())
      above[id] = owner[module.parent];
    owner[id] = skipped ? above[id] : id;
    // The root also competes with modules of its own class below it.
    if (!skipped)
      peers[{above[id], module.className}].paths.push_back(module.path);
  }
  for (auto &entry : peers)
    entry.second.tailSize = distinctTailSize(entry.second.paths);

  for (ModuleId id : order) {
    if (owner[id] != id)
      continue;
    const Module &module = tree[id];
    if (id == ModuleTree::root()) {
      tags[id] = "/" + module.className;
    } else {
      StringRef prefix = tags[above[id]];
      tags[id] = (prefix == "/" ? "/" : prefix.str() + "/") +
                 component(module, peers[{above[id], module.className}]);
    }
    byTag.try_emplace(tags[id], id);
  }
}

std::optional<ModuleId> TagNames::find(StringRef tag) const {
  auto it = byTag.find(tag);
  return it == byTag.end() ? std::nullopt : std::optional(it->second);
}

} // namespace htp
