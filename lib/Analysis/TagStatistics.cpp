// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts tags, and nodes whose names contradict their tags.

#include "HTP/Analysis/TagStatistics.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace htp {

/// The components of a tag that end in a number.
static SmallVector<StringRef> layersOf(StringRef tag) {
  SmallVector<StringRef> parts, layers;
  tag.split(parts, '/');
  for (StringRef part : parts) {
    StringRef number = part.rsplit('.').second;
    if (!number.empty() && llvm::all_of(number, llvm::isDigit))
      layers.push_back(part);
  }
  return layers;
}

bool inOtherLayer(StringRef tag, StringRef other) {
  for (auto [a, b] : llvm::zip(layersOf(tag), layersOf(other)))
    if (a != b && a.split('.').first == b.split('.').first)
      return true;
  return false;
}

/// The module implied by a node's result names or, failing that, by its own
/// name.
static std::optional<std::pair<ModuleId, StringRef>>
namedModule(Operation *op, const ScopeResolver &scopes) {
  for (Value result : op->getResults())
    if (auto where = scopes.resolveValue(getValueName(result)))
      return std::make_pair(where->module, getValueName(result));
  if (auto where = scopes.resolveNode(getNodeName(op), getOpType(op)))
    return std::make_pair(where->module, getNodeName(op));
  return std::nullopt;
}

void TagCounter::add(Operation *op, TagAttr tag,
                     std::optional<ModuleId> module) {
  ++statistics.nodes;
  if (!tag)
    return;
  ++statistics.tagged;
  ++statistics.evidence[stringifyEvidence(tag.getEvidence())];
  double value = std::clamp(tag.getConfidenceValue(), 0.0, 1.0);
  ++statistics.confidence[std::min<size_t>(
      9, static_cast<size_t>(value * 10 + 1e-9))];
  auto named = module ? namedModule(op, scopes) : std::nullopt;
  if (named && named->first != *module &&
      inOtherLayer(tags[*module], tags[named->first]))
    statistics.contaminated.push_back(
        {op, tree[named->first].path, named->second.str()});
}

TagStatistics countTags(mlir::ModuleOp module, const ModuleTree &tree) {
  TagNames tags(tree);
  TagCounter counter(tree, tags);
  forEachNode(module, [&](Operation *op) {
    if (!needsTag(op))
      return;
    TagAttr tag = getAbsoluteTag(op);
    counter.add(op, tag, tag ? tree.find(tag.getPath()) : std::nullopt);
  });
  return std::move(counter.statistics);
}

std::string TagStatistics::summary() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "nodes " << nodes << ", tagged " << tagged << ", contaminated "
     << contaminated.size() << "; evidence:";
  for (const auto &[name, count] : evidence)
    os << ' ' << (name.empty() ? "none" : name) << ' ' << count;
  os << "; confidence from 0.0 to 0.9:";
  for (size_t count : confidence)
    os << ' ' << count;
  return text;
}

} // namespace htp
