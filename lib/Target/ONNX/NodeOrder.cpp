// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts nodes topologically on import and restores the file's order on export.

#include "NodeOrder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

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
  const int size = nodes.size();
  llvm::StringMap<int> producers;
  for (int i = 0; i < size; ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producers.try_emplace(output, i);
  // The nodes that each node waits for, and whether all of them stand before
  // it.
  std::vector<llvm::SmallVector<int, 2>> sources(size);
  bool isSorted = true;
  for (int i = 0; i < size; ++i)
    forEachUse(nodes[i], [&](StringRef name) {
      auto it = producers.find(name);
      if (it == producers.end() || it->second == i)
        return;
      sources[i].push_back(it->second);
      isSorted &= it->second < i;
    });
  if (isSorted)
    return {};

  // Each node follows in the order of the file, but what it waits for comes
  // first. So a misplaced node moves alone, and all others stay where they are.
  // (Always taking the first node that is ready would instead put everything
  // ahead that does not wait for the misplaced node.)
  enum class State : uint8_t { New, Waiting, Done };
  std::vector<State> states(size, State::New);
  std::vector<std::pair<int, unsigned>>
      stack; // a node, the next of its sources
  std::vector<int> order;
  order.reserve(size);
  for (int first = 0; first < size; ++first) {
    if (states[first] == State::New)
      stack.push_back({first, 0});
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      states[node] = State::Waiting;
      if (next == sources[node].size()) {
        states[node] = State::Done;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      int source = sources[node][next++];
      if (states[source] == State::Waiting)
        return {}; // a cycle
      if (states[source] == State::New)
        stack.push_back({source, 0});
    }
  }
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
