// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts evidence, confidence and nodes per module.

#include "HTP/Target/GraphStatistics.h"
#include "HTP/Analysis/TagStatistics.h"

using namespace mlir;
using namespace htp;

/// The kinds of evidence, strongest first.
static constexpr StringLiteral kEvidence[] = {
    "override",  "metadata",  "name",     "value-name", "executed", "parameter",
    "alignment", "reference", "producer", "consumer",   "ancestor", "location"};

GraphStatistics::GraphStatistics(const TaggedGraph &graph)
    : initializers(graph.initializers().size()), own(graph.tree().size()),
      total(graph.tree().size()) {
  llvm::MapVector<StringRef, Evidence> found;
  for (StringRef kind : kEvidence)
    found[kind];
  for (const TaggedGraph::Node &node : graph.nodes()) {
    ++nodes;
    constants += node.constant;
    if (!node.tag)
      continue;
    ++tagged;
    auto isUser = [](ContextAttr context) {
      return context.getEvidence() == htp::Evidence::Consumer;
    };
    shared += llvm::any_of(node.tag.getContexts(), isUser);
    contested += !llvm::all_of(node.tag.getContexts(), isUser);
    confidence += node.tag.getConfidenceValue();
    Evidence &kind = found[stringifyEvidence(node.tag.getEvidence())];
    ++kind.nodes;
    kind.confidence += node.tag.getConfidenceValue();
    placed += node.module != ModuleTree::root();
    own[node.module] += !node.constant;
  }
  contaminated = countTags(graph.model(), graph.tree()).contaminated.size();
  confidence = tagged ? confidence / tagged : 0;
  for (auto &[name, kind] : found)
    if (kind.nodes)
      evidence[name] = {kind.nodes, kind.confidence / kind.nodes};

  // Deepest first; an alias has the counts of its canonical module.
  const ModuleTree &tree = graph.tree();
  std::vector<ModuleId> order(tree.ids().begin(), tree.ids().end());
  llvm::sort(order, [&](ModuleId a, ModuleId b) {
    return tree[a].depth > tree[b].depth;
  });
  total = own;
  for (ModuleId id : order)
    if (id != ModuleTree::root())
      total[tree[id].parent] += total[id];
  for (ModuleId id : tree.ids()) {
    own[id] = own[tree[id].canonical];
    total[id] = total[tree[id].canonical];
  }

  llvm::DenseSet<Operation *> called;
  for (const TaggedGraph::Frame &frame : graph.frames())
    if (frame.call) {
      ++calls;
      called.insert(frame.function);
    }
  functions = called.size();
}
