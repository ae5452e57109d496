// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module's entry contains the operations of all modules below it, and every
// edge between them. So an operation is in the entries of its module and all
// ancestors, and an edge in those of the lowest common ancestor of its ends and
// all ancestors of that.

#include "HTP/Target/DAG.h"
#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace htp;

namespace {
using NodeId = TaggedGraph::NodeId;

struct Entry {
  std::vector<NodeId> nodes;
  std::vector<std::pair<NodeId, NodeId>> edges;
};

class DAGWriter {
public:
  DAGWriter(const TaggedGraph &graph, bool torchNN)
      : graph(graph), tree(graph.tree()), tags(tree, torchNN),
        entries(tree.size()) {}

  void collect();
  void write(llvm::json::OStream &json);

private:
  /// Calls `visit` for the entries of all modules at or above `id` that have a
  /// tag of their own.
  template <typename Visit> void upwards(ModuleId id, Visit visit) {
    id = tags.taggedModule(id);
    visit(entries[id]);
    while (id != tree.root()) {
      id = tags.taggedModule(tree[id].parent);
      visit(entries[id]);
    }
  }

  const TaggedGraph &graph;
  const ModuleTree &tree;
  TagNames tags;
  std::vector<Entry> entries;
};
} // namespace

void DAGWriter::collect() {
  for (auto [id, node] : llvm::enumerate(graph.nodes()))
    if (node.tag && !node.constant)
      upwards(node.module, [&, id = NodeId(id)](Entry &entry) {
        entry.nodes.push_back(id);
      });
  graph.forEachEdge([&](NodeId from, NodeId to) {
    const TaggedGraph::Node &a = graph.nodes()[from], &b = graph.nodes()[to];
    if (a.tag && b.tag)
      upwards(tree.lowestCommonAncestor(a.module, b.module),
              [&](Entry &entry) { entry.edges.emplace_back(from, to); });
  });
}

void DAGWriter::write(llvm::json::OStream &json) {
  auto name = [&](NodeId id) { return graph.nodes()[id].name; };
  json.object([&] {
    for (ModuleId id : tree.ids()) {
      if (tags.taggedModule(id) != id)
        continue;
      json.attributeObject(validUTF8(tags[id]), [&] {
        json.attributeArray("nodes", [&] {
          for (NodeId node : entries[id].nodes)
            json.value(name(node));
        });
        json.attributeArray("edges", [&] {
          for (auto [from, to] : entries[id].edges)
            json.array([&, from = from, to = to] {
              json.value(name(from));
              json.value(name(to));
            });
        });
      });
      entries[id] = {};
    }
  });
}

LogicalResult htp::writeDAG(mlir::ModuleOp module, raw_ostream &os,
                            const DAGOptions &options) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  DAGWriter writer(**graph, options.torchNN);
  writer.collect();
  llvm::json::OStream json(os);
  writer.write(json);
  os << '\n';
  return success();
}
