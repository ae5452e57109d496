// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts nodes topologically on import and restores the file's order on export.

#include "NodeOrder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <queue>

using namespace mlir;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

/// Calls `visit` for each value that the node or its subgraphs read.
static void forEachUse(const NodeProto &node,
                       llvm::function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input())
    visit(input);
  for (const AttributeProto &attribute : node.attribute()) {
    auto visitGraph = [&](const GraphProto &graph) {
      for (const NodeProto &inner : graph.node())
        forEachUse(inner, visit);
      for (const auto &output : graph.output())
        visit(output.name());
    };
    if (attribute.has_g())
      visitGraph(attribute.g());
    for (const GraphProto &graph : attribute.graphs())
      visitGraph(graph);
  }
}

std::vector<int> htp::sortNodes(const NodeProtos &nodes) {
  llvm::StringMap<int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producers.try_emplace(output, i);
  auto forEachEdge = [&](llvm::function_ref<void(int from, int to)> visit) {
    for (int i = 0; i < nodes.size(); ++i)
      forEachUse(nodes[i], [&](StringRef name) {
        auto it = producers.find(name);
        if (it != producers.end() && it->second != i)
          visit(it->second, i);
      });
  };
  bool isSorted = true;
  forEachEdge([&](int from, int to) { isSorted &= from < to; });
  if (isSorted)
    return {};

  std::vector<std::vector<int>> users(nodes.size());
  std::vector<int> waitsFor(nodes.size());
  forEachEdge([&](int from, int to) {
    users[from].push_back(to);
    ++waitsFor[to];
  });
  // Among the nodes that are ready, always take the first one in the file.
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (!waitsFor[i])
      ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (int user : users[order.back()])
      if (--waitsFor[user] == 0)
        ready.push(user);
  }
  if (order.size() != size_t(nodes.size()))
    return {};
  return order;
}

void htp::restoreOrder(ArrayRef<Operation *> ops, NodeProtos &nodes) {
  if (ops.size() != size_t(nodes.size()))
    return;
  std::vector<std::pair<int64_t, int>> places;
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto position = op->getAttrOfType<IntegerAttr>(kPosition);
    if (!position)
      return;
    places.emplace_back(position.getInt(), index);
  }
  llvm::sort(places);
  NodeProtos sorted;
  sorted.Reserve(nodes.size());
  for (auto [position, index] : places)
    sorted.Add()->Swap(nodes.Mutable(index));
  nodes.Swap(&sorted);
}
