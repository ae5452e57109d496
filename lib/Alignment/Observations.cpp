// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the graph's nodes into observations. A node that an optimizer fused is
// taken apart again: each of its ops was emitted by a step of its own, and the
// last one makes the node's value.

#include "Model.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace htp;
using namespace htp::alignment;

/// The ops that a node stands for.
static llvm::SmallVector<llvm::StringRef>
unfused(const GraphNode &node, bool foldedNorm, bool addedBias) {
  llvm::SmallVector<llvm::StringRef> ops;
  llvm::StringRef op = node.op;
  if (op == "Conv" || op == "ConvTranspose" || op == "Gemm" ||
      op == "FusedConv" || op == "FusedGemm") {
    bool fused = op.consume_front("Fused");
    ops.push_back(op);
    if (addedBias)
      ops.push_back("Add");
    if (foldedNorm)
      ops.push_back("BatchNormalization");
    if (fused && op == "Conv" && node.inputs.size() > 3)
      ops.push_back("Add");
    if (!node.activation.empty())
      ops.push_back(node.activation);
    return ops;
  }
  if (op == "FusedMatMul" || op == "TransposeMatMul") {
    ops.push_back("MatMul");
    if (node.scales)
      ops.push_back("Mul");
    return ops;
  }
  for (const std::string &part : EmissionTable::get().fusedFrom(op))
    ops.push_back(part);
  if (ops.empty())
    ops.push_back(op);
  return ops;
}

/// Whether an op uses this operand as sizes, positions or counts, not as data.
static bool takesSizes(llvm::StringRef op, size_t operand) {
  if (op == "ConstantOfShape" || op == "Range")
    return true;
  if (op == "Resize")
    return operand >= 2;
  return operand >= 1 &&
         llvm::StringSwitch<bool>(op)
             .Cases({"Reshape", "Expand", "Slice", "Tile", "Split"}, true)
             .Cases({"Unsqueeze", "Squeeze", "Pad", "TopK", "Trilu"}, true)
             .Default(false);
}

/// Whether an op that reads only sizes makes a size, which has as many elements
/// as there are dimensions. Range or Expand instead make a tensor that is as
/// large as the sizes say.
static bool makesSizeOfSizes(llvm::StringRef op) {
  return !llvm::StringSwitch<bool>(op)
              .Cases({"Range", "ConstantOfShape", "Expand", "Tile"}, true)
              .Cases({"OneHot", "EyeLike", "NonZero", "Trilu"}, true)
              .Default(false);
}

/// Marks the sizes: observations that are computed from nothing but sizes, or
/// that go into nothing but sizes.
void Observations::markSizes() {
  std::vector<bool> fromSizes(graph.nodes.size()),
      contents(graph.values.size());
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    // The result is a size if at least one operand is a size, and all others
    // are sizes or constants.
    bool any = false, all = makesSizeOfSizes(node.op);
    for (auto [operand, value] : llvm::enumerate(node.inputs)) {
      if (value < 0 || takesSizes(node.op, operand) ||
          graph.values[value].constant >= 0)
        continue;
      Index producer = graph.values[value].producer;
      bool isSize = producer >= 0 && fromSizes[producer];
      any |= isSize && !(node.op == "Gather" && operand == 1);
      all &= isSize;
    }
    fromSizes[index] = node.op == "Shape" || node.op == "Size" || (any && all);
  }
  for (Index value : graph.outputs)
    contents[value] = true;
  std::vector<bool> intoSizes(graph.nodes.size());
  for (Index index = graph.nodes.size(); index-- > 0;) {
    const GraphNode &node = graph.nodes[index];
    intoSizes[index] = llvm::none_of(node.outputs, [&](Index value) {
      return value >= 0 && (contents[value] ||
                            graph.values[value].kind == ElementKind::Float);
    });
    for (auto [operand, value] : llvm::enumerate(node.inputs))
      if (value >= 0 && !intoSizes[index] && !takesSizes(node.op, operand))
        contents[value] = true;
  }
  for (Observation &observation : list)
    if (observation.op >= 0)
      observation.size =
          fromSizes[observation.node] || intoSizes[observation.node];
}

void Observations::markFloating() {
  for (Index n = 0; n < size(); ++n)
    list[n].floating = !list[n].isInput && llvm::all_of(prev[n], [&](Index p) {
      return list[p].floating;
    });
}

using ContentKey = std::pair<uint64_t, int64_t>;

static ContentKey keyOf(const TensorContent &content) {
  return {content.values, content.elements};
}

/// The contents of a constant; null for other values.
static const TensorContent *constantOf(const Graph &graph, Index value) {
  return value < 0 || graph.values[value].constant < 0
             ? nullptr
             : &graph.constants[graph.values[value].constant];
}

Observations::Observations(const Graph &graph, const States &states,
                           Emissions &emissions,
                           const AlignmentParameters &parameters)
    : graph(graph) {
  // In a model with batch norms, a convolution whose weight is not a parameter
  // of the program has such a norm folded in.
  bool anyNorm = llvm::any_of(states.list, [&](const State &state) {
    return state.kind >= 0 && emissions.rule(state.kind).kind == "batch_norm";
  });
  llvm::DenseMap<ContentKey, llvm::SmallVector<Index, 1>> owners;
  for (auto [index, parameter] : llvm::enumerate(states.program.parameters))
    if (parameter.content.values)
      owners[keyOf(parameter.content)].push_back(index);
  auto parametersIn = [&](const TensorContent &content) {
    auto found = owners.find(keyOf(content));
    return found == owners.end() ? llvm::ArrayRef<Index>(content.parameters)
                                 : llvm::ArrayRef<Index>(found->second);
  };
  auto isFolded = [&](const GraphNode &node) {
    return anyNorm && llvm::any_of(node.inputs, [&](Index value) {
             const TensorContent *content = constantOf(graph, value);
             return content && content->shape.size() > 2 &&
                    !owners.contains(keyOf(*content));
           });
  };
  // If no step reads both the weight and the bias, an optimizer made one node
  // of two steps.
  auto hasAddedBias = [&](const GraphNode &node) {
    if (node.inputs.size() < 3)
      return false;
    const TensorContent *weight = constantOf(graph, node.inputs[1]),
                        *bias = constantOf(graph, node.inputs[2]);
    if (!weight || !bias)
      return false;
    llvm::ArrayRef<Index> weights = parametersIn(*weight),
                          biases = parametersIn(*bias);
    if (weights.empty() || biases.empty() ||
        weights.size() > size_t(parameters.mostEqualWeights))
      return false;
    return llvm::none_of(weights, [&](Index parameter) {
      return llvm::any_of(states.readers[parameter], [&](Index t) {
        return llvm::any_of(
            states.program.steps[states.list[t].step].parameters,
            [&](Index p) { return llvm::is_contained(biases, p); });
      });
    });
  };

  std::vector<Index> madeBy(graph.values.size(), -1);
  llvm::SmallVector<Index> sources;
  auto add = [&](Observation observation) {
    llvm::sort(sources);
    sources.erase(llvm::unique(sources), sources.end());
    for (Index source : sources)
      prev.push(source);
    prev.close();
    sources.assign(1, list.size());
    list.push_back(observation);
  };
  auto read = [&](Index value) {
    if (value >= 0 && madeBy[value] >= 0)
      sources.push_back(madeBy[value]);
  };

  for (auto [k, value] : llvm::enumerate(graph.inputs)) {
    sources.clear();
    Observation input;
    input.node = k;
    input.isInput = true;
    madeBy[value] = list.size();
    add(input);
  }
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    sources.clear();
    for (Index value : node.inputs)
      read(value);
    bool folded = isFolded(node);
    for (llvm::StringRef op : unfused(node, folded, hasAddedBias(node))) {
      Observation observation;
      observation.node = index;
      observation.op = emissions.op(op);
      observation.integer =
          !node.outputs.empty() && node.outputs[0] >= 0 &&
          graph.values[node.outputs[0]].kind == ElementKind::Integer;
      observation.names = !(folded && op == "BatchNormalization");
      add(observation);
    }
    for (Index value : node.outputs)
      if (value >= 0)
        madeBy[value] = list.size() - 1;
  }
  for (auto [k, value] : llvm::enumerate(graph.outputs)) {
    if (madeBy[value] < 0)
      continue;
    sources.clear();
    read(value);
    Observation output;
    output.node = k;
    output.isOutput = true;
    add(output);
  }

  // Consumers.
  next.begins.assign(size() + 1, 0);
  for (Index p : prev.items)
    ++next.begins[p + 1];
  for (Index n = 0; n < size(); ++n)
    next.begins[n + 1] += next.begins[n];
  next.items.resize(prev.items.size());
  std::vector<unsigned> at(next.begins.begin(), next.begins.end() - 1);
  for (Index n = 0; n < size(); ++n)
    for (Index p : prev[n])
      next.items[at[p]++] = n;

  markSizes();
  markFloating();

  // A reshape beside a Gemm is either the optimizer's (it turns MatMul and Add
  // into Reshape, Gemm, Reshape) or a view of the model itself.
  Index gemm = emissions.op("Gemm"), reshape = emissions.op("Reshape"),
        wrap = emissions.op("GemmReshape");
  for (Index n = 0; n < size(); ++n) {
    if (list[n].op != gemm)
      continue;
    for (Index p : prev[n])
      if (list[p].op == reshape)
        list[p].op = wrap;
    // If the bias was a step of its own, the product is followed by an Add; the
    // last observation of the node makes its value.
    Index last = n;
    while (last + 1 < size() && !list[last + 1].isOutput &&
           list[last + 1].node == list[n].node)
      ++last;
    for (Index m : next[last])
      if (list[m].op == reshape || list[m].op == wrap) {
        list[m].op = wrap;
        list[m].wrapsResult = true;
      }
  }
}
