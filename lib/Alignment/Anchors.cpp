// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the nodes that can only be in a few states, before anything is weighed:
// a node that reads the same parameter as a state, that makes a value of the
// same name or has the same name itself, or whose module is already known.

#include "Model.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace htp;
using namespace htp::alignment;

namespace {

class AnchorFinder {
public:
  AnchorFinder(const Observations &observations, const States &states,
               const Emissions &emissions,
               const AlignmentParameters &parameters)
      : observations(observations), states(states), emissions(emissions),
        parameters(parameters) {}

  Anchors run();

private:
  void indexParameters(Anchors &anchors);
  void indexNames();
  void byParameter(Index n);
  void keepMostFrequent();
  bool readsAll(const Observation &observation, Index state) const;
  void keepReadersOfInputs(Index n);
  void byName(const Observation &observation);
  void byModule(const Observation &observation, const Prior &prior);
  bool canEmit(Index state, const Observation &observation) const;
  bool namesItsNode(Index n) const;
  bool argumentsAgree(bool inputs) const;
  void tellCallsApart(Anchors &anchors) const;
  void findTaken(Anchors &anchors) const;

  const Observations &observations;
  const States &states;
  const Emissions &emissions;
  const AlignmentParameters &parameters;
  llvm::DenseMap<std::pair<uint64_t, int64_t>, llvm::SmallVector<Index, 1>>
      owners;
  llvm::StringMap<Index> namedValues, namedNodes;
  llvm::SmallVector<Index> hits;
  /// Whether graph and program have equally many inputs.
  bool inputsAgree = false;
  /// The nodes that are anchored because their call is known.
  std::vector<bool> inCall;
};

} // namespace

bool AnchorFinder::canEmit(Index state, const Observation &observation) const {
  return howEmits(emissions, states.list[state].kind, observation) !=
         Emits::Nothing;
}

void AnchorFinder::indexParameters(Anchors &anchors) {
  llvm::DenseSet<std::pair<uint64_t, int64_t>> present;
  llvm::DenseSet<Index> recognised;
  for (const TensorContent &content : observations.graph.constants) {
    present.insert({content.values, content.elements});
    recognised.insert_range(content.parameters);
  }
  for (auto [index, parameter] : llvm::enumerate(states.program.parameters)) {
    const TensorContent &content = parameter.content;
    bool isFloat = content.kind == ElementKind::Float;
    if ((!content.values && !parameter.sketched) ||
        content.elements <
            (isFloat ? parameters.leastElements : parameters.leastIntegers))
      continue;
    std::pair<uint64_t, int64_t> key(content.values, content.elements);
    if (content.values)
      owners[key].push_back(index);
    if (parameter.joined || states.readers[index].empty())
      continue;
    ++anchors.known;
    anchors.found +=
        (content.values && present.contains(key)) || recognised.contains(index);
  }
}

/// Indexes the names of steps and their values. A name that occurs twice
/// identifies nothing and becomes -1.
void AnchorFinder::indexNames() {
  auto add = [](llvm::StringMap<Index> &map, llvm::StringRef name, Index t) {
    if (name.empty())
      return;
    auto [found, isNew] = map.try_emplace(name, t);
    if (!isNew)
      found->second = -1;
  };
  for (auto [t, state] : llvm::enumerate(states.list)) {
    if (state.kind < 0)
      continue;
    const Program::Step &step = states.program.steps[state.step];
    add(namedNodes, step.name, t);
    for (Index value : step.outputs)
      add(namedValues, states.program.values[value].name, t);
  }
}

void AnchorFinder::byParameter(Index n) {
  const Observation &observation = observations.list[n];
  const Graph &graph = observations.graph;
  llvm::SmallVector<Index, 4> seen;
  unsigned several = 0;
  for (Index value : graph.nodes[observation.node].inputs) {
    Index constant = value < 0 ? -1 : graph.values[value].constant;
    if (constant < 0 || llvm::is_contained(seen, constant))
      continue;
    seen.push_back(constant);
    const TensorContent &content = graph.constants[constant];
    if (content.elements < parameters.leastElements)
      continue;
    auto found = owners.find({content.values, content.elements});
    llvm::ArrayRef<Index> equal =
        found == owners.end() ? llvm::ArrayRef<Index>(content.parameters)
                              : llvm::ArrayRef<Index>(found->second);
    if (equal.size() > size_t(parameters.mostEqual))
      continue;
    size_t begin = hits.size();
    for (Index parameter : equal) {
      // Integers, such as positions, may be equal by chance. They count only if
      // the node reads all weights of the step as well.
      bool isWeight = states.program.parameters[parameter].content.kind ==
                      ElementKind::Float;
      for (Index t : states.readers[parameter])
        if (canEmit(t, observation) && (isWeight || readsAll(observation, t)))
          hits.push_back(t);
    }
    llvm::sort(hits.begin() + begin, hits.end());
    hits.erase(std::unique(hits.begin() + begin, hits.end()), hits.end());
    several += hits.size() > begin;
  }
  if (several > 1)
    keepMostFrequent();
  keepReadersOfInputs(n);
}

/// Whether the node reads every weight that the state reads, except those that
/// are too small to be recognised.
bool AnchorFinder::readsAll(const Observation &observation, Index state) const {
  const Graph &graph = observations.graph;
  auto reads = [&](Index parameter) {
    const TensorContent &wanted = states.program.parameters[parameter].content;
    return llvm::any_of(graph.nodes[observation.node].inputs, [&](Index value) {
      Index constant = value < 0 ? -1 : graph.values[value].constant;
      if (constant < 0)
        return false;
      const TensorContent &content = graph.constants[constant];
      return (wanted.values && content.values == wanted.values &&
              content.elements == wanted.elements) ||
             llvm::is_contained(content.parameters, parameter);
    });
  };
  return llvm::all_of(states.program.steps[states.list[state].step].parameters,
                      [&](Index parameter) {
                        const TensorContent &content =
                            states.program.parameters[parameter].content;
                        return content.kind != ElementKind::Float ||
                               content.elements < parameters.leastElements ||
                               reads(parameter);
                      });
}

/// If several steps read the same parameter, keeps those that read the same
/// argument of the model as well.
void AnchorFinder::keepReadersOfInputs(Index n) {
  if (hits.size() < 2 || !inputsAgree)
    return;
  llvm::SmallVector<Index, 2> arguments;
  for (Index m : observations.prev[n])
    if (observations.list[m].isInput)
      arguments.push_back(states.program.inputs[observations.list[m].node]);
  llvm::SmallVector<Index> kept;
  llvm::copy_if(hits, std::back_inserter(kept), [&](Index t) {
    llvm::ArrayRef<int32_t> read =
        states.program.steps[states.list[t].step].inputs;
    return llvm::any_of(arguments,
                        [&](Index a) { return llvm::is_contained(read, a); });
  });
  if (!kept.empty())
    hits = std::move(kept);
}

/// Keeps the states that most of the node's constants point to. A node may read
/// the weight of one layer and a bias that is equal in all layers: it belongs
/// to the one layer that reads both.
void AnchorFinder::keepMostFrequent() {
  llvm::sort(hits);
  llvm::SmallVector<Index> kept;
  size_t most = 0;
  for (size_t begin = 0, end; begin < hits.size(); begin = end) {
    for (end = begin; end < hits.size() && hits[end] == hits[begin];)
      ++end;
    if (end - begin > most) {
      most = end - begin;
      kept.clear();
    }
    if (end - begin == most)
      kept.push_back(hits[begin]);
  }
  hits = std::move(kept);
}

/// Finds a node by its name, or by those of its values. A fused node still
/// makes a value of the original graph, or its name starts with that of a node
/// that it replaces: "/fc/MatMul/MatMulAddFusion".
void AnchorFinder::byName(const Observation &observation) {
  const Graph &graph = observations.graph;
  const GraphNode &node = graph.nodes[observation.node];
  auto look = [&](const llvm::StringMap<Index> &map, llvm::StringRef name) {
    auto found = map.find(name);
    if (hits.empty() && found != map.end() && found->second >= 0)
      hits.push_back(found->second);
  };
  for (Index value : node.outputs)
    if (value >= 0)
      look(namedValues, graph.values[value].name);
  look(namedNodes, node.name);
  look(namedNodes, node.name.rsplit('/').first);
}

void AnchorFinder::byModule(const Observation &observation,
                            const Prior &prior) {
  if (prior.module < 0 || size_t(prior.module) >= states.ofModule.size())
    return;
  for (Index t : states.ofModule[prior.module])
    if ((prior.call < 0 || states.list[t].call == prior.call) &&
        canEmit(t, observation))
      hits.push_back(t);
}

/// Whether what is known about the node is true of this op of it. A fused node
/// has several observations; names and modules describe the last one that
/// decides the node's module.
bool AnchorFinder::namesItsNode(Index n) const {
  const Observation &observation = observations.list[n];
  if (!observation.names)
    return false;
  for (Index m = n + 1; m < observations.size(); ++m) {
    const Observation &later = observations.list[m];
    if (later.isOutput || later.node != observation.node)
      break;
    if (later.names)
      return false;
  }
  return true;
}

/// Arguments (or results) are matched by their number, which is only right if
/// graph and program have equally many.
bool AnchorFinder::argumentsAgree(bool inputs) const {
  auto mine = llvm::count_if(observations.list, [&](const Observation &o) {
    return inputs ? o.isInput : o.isOutput;
  });
  return size_t(mine) == (inputs ? states.program.inputs.size()
                                 : states.program.outputs.size());
}

/// A node that reads a parameter of a shared module is anchored in all calls of
/// the module. If there are as many such nodes as calls, each one belongs to
/// one call, in order.
void AnchorFinder::tellCallsApart(Anchors &anchors) const {
  auto areCalls = [&](llvm::ArrayRef<Index> several) {
    for (auto [t, next] : llvm::zip(several, several.drop_front()))
      if (states.list[t].kind < 0 ||
          states.list[t].module != states.list[next].module ||
          states.list[t].call >= states.list[next].call)
        return false;
    return true;
  };
  std::vector<Index> shared;
  for (Index n = 0; n < observations.size(); ++n)
    if (anchors.states[n].size() > 1 && areCalls(anchors.states[n]))
      shared.push_back(n);
  if (shared.empty())
    return;
  auto before = [&](Index a, Index b) {
    Index opOfA = observations.list[a].op, opOfB = observations.list[b].op;
    llvm::ArrayRef<Index> ofA = anchors.states[a], ofB = anchors.states[b];
    return opOfA != opOfB ? opOfA < opOfB
                          : std::lexicographical_compare(
                                ofA.begin(), ofA.end(), ofB.begin(), ofB.end());
  };
  llvm::sort(shared, [&](Index a, Index b) {
    return before(a, b) || (!before(b, a) && a < b);
  });
  std::vector<Index> only(observations.size(), -1);
  for (size_t begin = 0, end; begin < shared.size(); begin = end) {
    for (end = begin + 1; end < shared.size(); ++end)
      if (before(shared[begin], shared[end]))
        break;
    llvm::ArrayRef<Index> calls = anchors.states[shared[begin]];
    if (end - begin == calls.size())
      for (size_t i = 0; i < calls.size(); ++i)
        only[shared[begin + i]] = calls[i];
  }
  Rows<Index> apart;
  for (Index n = 0; n < observations.size(); ++n) {
    for (Index t : anchors.states[n])
      if (only[n] < 0 || only[n] == t)
        apart.push(t);
    apart.close();
  }
  anchors.states = std::move(apart);
}

void AnchorFinder::findTaken(Anchors &anchors) const {
  anchors.taken.assign(states.size(), false);
  for (Index n = 0; n < observations.size(); ++n)
    if (!inCall[n] || anchors.states[n].size() == 1)
      for (Index t : anchors.states[n])
        anchors.taken[t] = true;
}

Anchors AnchorFinder::run() {
  Anchors anchors;
  indexParameters(anchors);
  if (states.program.sameNames)
    indexNames();
  inputsAgree = argumentsAgree(true);
  bool outputsAgree = argumentsAgree(false);
  inCall.assign(observations.size(), false);
  for (Index n = 0; n < observations.size(); ++n) {
    const Observation &observation = observations.list[n];
    hits.clear();
    if (observation.isInput) {
      if (inputsAgree)
        hits.push_back(observation.node);
    } else if (observation.isOutput) {
      if (outputsAgree)
        hits.push_back(states.size() - states.program.outputs.size() +
                       observation.node);
    } else {
      bool last = namesItsNode(n);
      const Prior &prior = observations.graph.nodes[observation.node].prior;
      if (last && states.program.sameNames)
        byName(observation);
      if (last && hits.empty() && !prior.weak)
        byModule(observation, prior);
      if (hits.empty())
        byParameter(n);
      if (last && hits.empty() && prior.weak) {
        byModule(observation, prior);
        inCall[n] = prior.call >= 0;
      }
    }
    llvm::sort(hits);
    hits.erase(llvm::unique(hits), hits.end());
    for (Index t : hits)
      anchors.states.push(t);
    anchors.states.close();
  }
  tellCallsApart(anchors);
  findTaken(anchors);
  return anchors;
}

Anchors alignment::findAnchors(const Observations &observations,
                               const States &states, const Emissions &emissions,
                               const AlignmentParameters &parameters) {
  return AnchorFinder(observations, states, emissions, parameters).run();
}
