// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the alignment and turns the beliefs into answers. Dataflow alone is
// weighed first: it suggests an order of the nodes that fits the program. After
// that, order and dataflow take turns (docs/Alignment.md, "The procedure").

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace htp;
using namespace htp::alignment;

namespace {

/// Candidates far behind the best one are dropped after this round (the first
/// is 0).
constexpr unsigned kPruneRound = 1;
/// A candidate whose log-likelihood as the main node is lower than this is
/// never the main node; exp() need not be called for it.
constexpr float kLeast = -1e6;
/// Beliefs: below kSure an answer counts as spread; from kPlaced on, a node's
/// place counts as known; above kWorthNaming a second module is reported.
constexpr float kSure = 0.99f, kPlaced = 0.9f, kWorthNaming = 0.01f;

/// A module, and the likeliest of its states.
using ModuleBelief = std::pair<Belief, Index>;

class Aligner {
public:
  Aligner(const Graph &graph, const Program &program,
          llvm::ArrayRef<ModulePlace> modules, const AlignmentOptions &options)
      : graph(graph), options(options), parameters(options.parameters),
        frames(program, modules), states(program, frames, emissions),
        observations(graph, states, emissions, parameters) {
    emissions.close();
    gemm = emissions.findOp("Gemm");
    matMul = emissions.findOp("MatMul");
    conv = emissions.findOp("Conv");
    convTranspose = emissions.findOp("ConvTranspose");
  }

  Alignment run();

private:
  Posterior free();
  void choose(Index n, llvm::ArrayRef<double> prices,
              llvm::MutableArrayRef<double> demand, Posterior &posterior);
  bool setPrices(llvm::ArrayRef<double> demand,
                 llvm::MutableArrayRef<double> prices) const;
  void prune();
  void ordered(OrderModel &model, llvm::ArrayRef<Index> order, BackCost back,
               Posterior &posterior);
  std::vector<Index> believedOrder(const Posterior &posterior) const;
  std::vector<Index> chooseOrder(OrderModel &model, const Posterior &loose,
                                 Alignment &result) const;
  void answer(const Posterior &posterior, const Posterior &loose,
              Alignment &result) const;
  Explanation explain(Index node, const Posterior &posterior,
                      const Posterior &loose) const;
  bool canEmit(Index state, Index n) const;
  std::vector<ModuleBelief> weighModules(Index n,
                                         const Posterior &posterior) const;
  void putFirst(Index state, llvm::MutableArrayRef<ModuleBelief> beliefs) const;
  bool hasWays(Index n, Index state, llvm::ArrayRef<Index> placed) const;
  std::vector<Index> places(const Posterior &posterior,
                            llvm::ArrayRef<Index> loosely) const;
  Index homeInGap(Index n, Index state) const;
  Index foldedNorm(Index n, Index state, const std::vector<bool> &taken) const;
  Index absorbedNorm(Index n, Index state,
                     const std::vector<bool> &taken) const;
  Index mergedInto(Index n, Index state, const std::vector<bool> &taken) const;
  RedFlags flags(Index n, Index state, float belief, Index looseState,
                 llvm::ArrayRef<Index> placed) const;
  std::vector<Index> mostLikely(const Posterior &posterior) const;

  const Graph &graph;
  const AlignmentOptions &options;
  const AlignmentParameters &parameters;
  Frames frames;
  Emissions emissions;
  States states;
  Observations observations;
  Anchors anchors;
  Candidates candidates;
  std::optional<Reach> reach;
  std::optional<OrderCosts> costs;
  std::optional<Dataflow> dataflow;
  std::vector<float> mains; // a buffer of choose()
  Index gemm = -1, matMul = -1, conv = -1, convTranspose = -1;
};

} // namespace

/// The answer by emission and dataflow alone. A step that more nodes want as
/// their main step than it can have main nodes gets a price, which makes some
/// of these nodes choose another step.
Posterior Aligner::free() {
  std::vector<double> prices(states.size(), 0), demand;
  Posterior posterior(candidates.items.size());
  for (unsigned round = 0; round < unsigned(parameters.freeRounds); ++round) {
    demand.assign(states.size(), 1e-9);
    for (Index n = 0; n < observations.size(); ++n)
      choose(n, prices, demand, posterior);
    bool changed = setPrices(demand, prices);
    changed |= dataflow->weigh(posterior);
    if (round == kPruneRound) {
      prune();
      posterior.resize(candidates.items.size());
    } else if (!changed) {
      break; // further rounds would change nothing
    }
  }
  return posterior;
}

/// Computes the beliefs of one node at these prices. Adds to `demand` how much
/// the node wants to be the main node of each state.
void Aligner::choose(Index n, llvm::ArrayRef<double> prices,
                     llvm::MutableArrayRef<double> demand,
                     Posterior &posterior) {
  llvm::ArrayRef<Candidate> own = candidates[n];
  const float *evidence = dataflow->evidence.data() + candidates.begins[n];
  float *beliefs = posterior.data() + candidates.begins[n];
  float top = -1e30f, sum = 0;
  for (auto [i, c] : llvm::enumerate(own))
    top = std::max(top, std::max<float>(c.main - prices[c.state], c.part) +
                            evidence[i]);
  mains.resize(own.size());
  for (auto [i, c] : llvm::enumerate(own)) {
    float e = evidence[i] - top;
    mains[i] =
        c.main > kLeast ? std::exp(c.main + e - float(prices[c.state])) : 0;
    beliefs[i] = mains[i] + std::exp(c.part + e);
    sum += beliefs[i];
  }
  for (auto [i, c] : llvm::enumerate(own)) {
    beliefs[i] /= sum;
    demand[c.state] += mains[i] / sum;
  }
}

/// Raises the prices of states with more than one main node, and lowers them
/// again where demand falls. Returns whether any price changed.
bool Aligner::setPrices(llvm::ArrayRef<double> demand,
                        llvm::MutableArrayRef<double> prices) const {
  bool changed = false;
  for (Index t = 0; t < states.size(); ++t) {
    if (costs->many[t] || (prices[t] == 0 && demand[t] <= 1))
      continue;
    double price = std::max(0.0, prices[t] + std::log(demand[t]));
    changed |= price != prices[t];
    prices[t] = price;
  }
  return changed;
}

/// Drops the candidates that are far behind the best one of their node.
void Aligner::prune() {
  std::vector<float> &evidence = dataflow->evidence;
  size_t kept = 0, begin = 0;
  for (Index n = 0; n < observations.size(); ++n) {
    size_t end = candidates.begins[n + 1];
    auto score = [&](size_t i) {
      const Candidate &candidate = candidates.items[i];
      return std::max(candidate.main, candidate.part) + evidence[i];
    };
    float top = -1e30f;
    for (size_t i = begin; i < end; ++i)
      top = std::max(top, score(i));
    for (size_t i = begin; i < end; ++i)
      if (score(i) > top - parameters.beam) {
        candidates.items[kept] = candidates.items[i];
        evidence[kept++] = evidence[i];
      }
    begin = end;
    candidates.begins[n + 1] = kept;
  }
  candidates.items.resize(kept);
  dataflow->restart();
}

/// Lets order and dataflow take turns until the beliefs settle. The caller has
/// already run the first forward pass of `model`.
void Aligner::ordered(OrderModel &model, llvm::ArrayRef<Index> order,
                      BackCost back, Posterior &posterior) {
  model.backward(posterior);
  for (unsigned round = 1; round < unsigned(parameters.rounds); ++round) {
    if (!dataflow->weigh(posterior) && round > 1)
      return; // further rounds would change nothing
    model.forward(order, dataflow->evidence, back);
    model.backward(posterior);
  }
}

std::vector<Index> Aligner::mostLikely(const Posterior &posterior) const {
  std::vector<Index> best(observations.size());
  for (Index n = 0; n < observations.size(); ++n) {
    const float *begin = posterior.data() + candidates.begins[n];
    size_t size = candidates[n].size();
    best[n] =
        candidates[n][std::max_element(begin, begin + size) - begin].state;
  }
  return best;
}

/// The order that the beliefs suggest.
std::vector<Index> Aligner::believedOrder(const Posterior &posterior) const {
  std::vector<bool> known(observations.size());
  for (Index n = 0; n < observations.size(); ++n) {
    const float *begin = posterior.data() + candidates.begins[n];
    known[n] =
        *std::max_element(begin, begin + candidates[n].size()) >= kPlaced;
  }
  return orderByPlace(observations, mostLikely(posterior), known);
}

/// Chooses the order that the file's nodes had when they were made, runs the
/// order model's forward pass on it, and returns it.
std::vector<Index> Aligner::chooseOrder(OrderModel &model,
                                        const Posterior &loose,
                                        Alignment &result) const {
  // Steps back are rare in the order of an exporter.
  const BackCost strict = {parameters.backOnce, parameters.backEach};
  std::vector<Index> own(observations.size());
  std::iota(own.begin(), own.end(), 0);
  double ownFit = model.forward(own, {}, strict), fit = ownFit;
  std::vector<Index> best = own;
  auto consider = [&](std::vector<Index> other, float least) {
    if (other == own)
      return;
    double otherFit = model.forward(other, {}, strict);
    if (otherFit - ownFit < least * observations.size() || otherFit <= fit)
      return;
    fit = otherFit;
    best = std::move(other);
  };
  consider(orderFloatingLast(observations), parameters.resortFloating);
  consider(believedOrder(loose), parameters.resort);
  result.ownOrder = best == own;
  result.fit = fit / observations.size();
  return best;
}

bool Aligner::canEmit(Index state, Index n) const {
  return states.list[state].isGap ||
         isKnown(howEmits(emissions, states.list[state].kind,
                          observations.list[n]));
}

/// Whether the program has a way for each edge of a node in this state, with
/// its neighbours in the states in which they were placed.
bool Aligner::hasWays(Index n, Index state,
                      llvm::ArrayRef<Index> placed) const {
  return llvm::all_of(
             observations.prev[n],
             [&](Index p) { return (*reach)(placed[p], state) > 0; }) &&
         llvm::all_of(observations.next[n],
                      [&](Index m) { return (*reach)(state, placed[m]) > 0; });
}

/// The state in which each node is placed. This is the most likely one, with
/// one exception: if that state makes no such node, or only as a part of
/// something else, but dataflow alone prefers a state that makes it and has a
/// way for each of the node's edges, then dataflow is believed. Against a part,
/// the state must make no other node.
std::vector<Index> Aligner::places(const Posterior &posterior,
                                   llvm::ArrayRef<Index> loosely) const {
  std::vector<Index> placed = mostLikely(posterior);
  auto emits = [&](Index n, Index state) {
    return howEmits(emissions, states.list[state].kind, observations.list[n]);
  };
  std::vector<unsigned> made(states.size());
  for (Index n = 0; n < observations.size(); ++n)
    made[loosely[n]] += emits(n, loosely[n]) == Emits::Main;
  auto isBetter = [&](Index n) {
    const Emits chosen = emits(n, placed[n]), free = emits(n, loosely[n]);
    if (!canEmit(placed[n], n))
      return isKnown(free);
    return chosen == Emits::Part && free == Emits::Main &&
           made[loosely[n]] == 1;
  };
  for (Index n = 0; n < observations.size(); ++n) {
    const Observation &observation = observations.list[n];
    if (!observation.isInput && !observation.isOutput && isBetter(n) &&
        hasWays(n, loosely[n], loosely))
      placed[n] = loosely[n];
  }
  return placed;
}

RedFlags Aligner::flags(Index n, Index state, float belief, Index looseState,
                        llvm::ArrayRef<Index> placed) const {
  RedFlags flags;
  flags.edge = !states.list[state].isGap && !hasWays(n, state, placed);
  flags.order = states.list[looseState].module != states.list[state].module;
  flags.kind = !canEmit(state, n);
  flags.spread = belief < kSure;
  return flags;
}

/// The frame for a node that was placed in a gap and is computed from sizes
/// alone; -1 for other nodes. Such a node may have run at any level between the
/// module that execution leaves and the one that it enters. Most likely it ran
/// in the innermost call that contains both its readers and the step after the
/// gap.
Index Aligner::homeInGap(Index n, Index state) const {
  if (!states.list[state].isGap || candidates.homes[n] < 0)
    return -1;
  return frames.common(candidates.homes[n], states.list[state + 1].frame);
}

/// Finds the batch norm that an exporter folded into a product: it has no node
/// of its own, only it reads the product, and the product's weight is no longer
/// a parameter. The result of the node is then that of the norm. Returns the
/// norm's state, or -1.
Index Aligner::foldedNorm(Index n, Index state,
                          const std::vector<bool> &taken) const {
  if (anchors.has(n) || states.next[state].size() != 1 ||
      (observations.list[n].op != gemm && observations.list[n].op != matMul) ||
      states.list[state].kind < 0 ||
      states.program.steps[states.list[state].step].parameters.empty())
    return -1;
  Index norm = states.next[state].front();
  return states.list[norm].kind >= 0 && !taken[norm] &&
                 emissions.rule(states.list[norm].kind).kind == "batch_norm"
             ? norm
             : -1;
}

/// Finds the batch norm that became part of a convolution: it has no node of
/// its own, and only it reads the convolution. Returns the norm's state, or -1.
Index Aligner::absorbedNorm(Index n, Index state,
                            const std::vector<bool> &taken) const {
  const Index op = observations.list[n].op;
  if ((op != conv && op != convTranspose) || states.list[state].kind < 0 ||
      states.next[state].size() != 1)
    return -1;
  Index norm = states.next[state].front();
  return states.list[norm].kind >= 0 && !taken[norm] &&
                 emissions.rule(states.list[norm].kind).kind == "batch_norm"
             ? norm
             : -1;
}

/// Exporters merge views in a row into one node, which does what the last view
/// does. Returns the state of that last view, or -1 if the node belongs to its
/// own step. Where the shapes are known they have already told the views apart,
/// so only views of unknown shape are followed.
Index Aligner::mergedInto(Index n, Index state,
                          const std::vector<bool> &taken) const {
  Index last = -1;
  auto kindOf = [&](Index t) { return states.list[t].kind; };
  if (observations.list[n].size ||
      howEmits(emissions, kindOf(state), observations.list[n]) != Emits::Main ||
      emissions.rule(kindOf(state)).kind != "view")
    return -1;
  for (Index at = state; states.next[at].size() == 1;) {
    at = states.next[at].front();
    if (kindOf(at) < 0 || taken[at])
      break;
    if (kindOf(at) == kindOf(state) && !states.list[at].shape &&
        !states.list[state].shape)
      last = at;
    else if (!emissions.rule(kindOf(at)).silent)
      break;
  }
  return last;
}

/// The belief in each module for a node, largest first: the sum over the
/// module's states.
std::vector<ModuleBelief>
Aligner::weighModules(Index n, const Posterior &posterior) const {
  std::vector<ModuleBelief> beliefs;
  llvm::SmallVector<float, 16> tops;
  for (auto [i, c] : llvm::enumerate(candidates[n])) {
    float weight = posterior[candidates.begins[n] + i];
    const State &state = states.list[c.state];
    auto found = llvm::find_if(beliefs, [&](const auto &entry) {
      return entry.first.module == state.module;
    });
    if (found == beliefs.end()) {
      beliefs.push_back({{state.module, state.call, weight}, c.state});
      tops.push_back(weight);
      continue;
    }
    found->first.weight += weight;
    float &top = tops[found - beliefs.begin()];
    if (weight > top) {
      top = weight;
      found->first.call = state.call;
      found->second = c.state;
    }
  }
  llvm::sort(beliefs, [](const auto &a, const auto &b) {
    return a.first.weight != b.first.weight ? a.first.weight > b.first.weight
                                            : a.second < b.second;
  });
  return beliefs;
}

/// Moves the module of `state` to the front, whatever its weight.
void Aligner::putFirst(Index state,
                       llvm::MutableArrayRef<ModuleBelief> beliefs) const {
  auto *found = llvm::find_if(beliefs, [&](const ModuleBelief &belief) {
    return belief.first.module == states.list[state].module;
  });
  std::rotate(beliefs.begin(), found, found + 1);
  beliefs.front().first.call = states.list[state].call;
  beliefs.front().second = state;
}

void Aligner::answer(const Posterior &posterior, const Posterior &loose,
                     Alignment &result) const {
  result.nodes.resize(graph.nodes.size());
  std::vector<Index> loosely = mostLikely(loose),
                     placed = places(posterior, loosely);
  std::vector<bool> taken(states.size());
  for (Index state : placed)
    taken[state] = true;
  llvm::SmallVector<Index> foldedIn; // norms that became part of another node
  for (Index n = 0; n < observations.size(); ++n) {
    const Observation &observation = observations.list[n];
    if (!observation.isInput && !observation.isOutput && !observation.names)
      foldedIn.push_back(n);
    if (observation.isInput || observation.isOutput || !observation.names)
      continue;
    std::vector<ModuleBelief> beliefs = weighModules(n, posterior);
    if (states.list[beliefs[0].second].module !=
            states.list[placed[n]].module &&
        placed[n] == loosely[n] && canEmit(placed[n], n))
      putFirst(placed[n], beliefs);
    AlignedNode &node = result.nodes[observation.node];
    node = {};
    node.best = beliefs[0].first;
    if (Index home = homeInGap(n, beliefs[0].second); home >= 0) {
      node.best.module = frames.module(home);
      node.best.call = frames.call(home);
    }
    Index instead = foldedNorm(n, beliefs[0].second, taken);
    if (instead < 0)
      instead = mergedInto(n, beliefs[0].second, taken);
    if (instead >= 0) {
      node.best.module = states.list[instead].module;
      node.best.call = states.list[instead].call;
    }
    node.step = states.list[beliefs[0].second].kind < 0
                    ? -1
                    : states.list[beliefs[0].second].step;
    if (beliefs.size() > 1 && beliefs[1].first.weight > kWorthNaming)
      node.second = beliefs[1].first;
    if (Index norm = absorbedNorm(n, beliefs[0].second, taken); norm >= 0)
      node.absorbed = {states.list[norm].module, states.list[norm].call,
                       node.best.weight};
    node.anchored = anchors.has(n);
    node.flags =
        flags(n, beliefs[0].second, node.best.weight, loosely[n], placed);
  }
  giveWrapsToProducts(observations, states, frames, emissions, placed, result);
  moveToReaders(observations, states, frames, emissions, anchors, *reach,
                placed, result);
  for (Index n : foldedIn) {
    AlignedNode &node = result.nodes[observations.list[n].node];
    const State &norm = states.list[placed[n]];
    if (norm.kind >= 0)
      node.absorbed = {norm.module, norm.call, node.best.weight};
  }
}

Explanation Aligner::explain(Index node, const Posterior &posterior,
                             const Posterior &loose) const {
  Explanation result;
  result.node = node;
  // A fused node has an observation for each op that it stands for. The last
  // one makes its value.
  Index n = -1;
  for (auto [i, observation] : llvm::enumerate(observations.list))
    if (observation.node == node && observation.names && !observation.isInput &&
        !observation.isOutput)
      n = i;
  if (n < 0)
    return result;
  for (auto [i, c] : llvm::enumerate(candidates[n])) {
    const size_t at = candidates.begins[n] + i;
    const State &state = states.list[c.state];
    CandidateStep candidate;
    candidate.step = state.kind < 0 ? -1 : state.step;
    candidate.module = state.module;
    candidate.call = state.call;
    candidate.kind = std::max(c.main, c.part) +
                     std::log1p(std::exp(-std::abs(c.main - c.part)));
    candidate.dataflow = dataflow->evidence[at];
    candidate.belief = posterior[at];
    candidate.freely = loose[at];
    // The belief is the sum of kind, dataflow and order (as logarithms); what
    // the first two do not explain is the order.
    candidate.order = std::log(std::max(candidate.belief,
                                        std::numeric_limits<float>::min())) -
                      candidate.kind - candidate.dataflow;
    result.candidates.push_back(candidate);
  }
  llvm::sort(result.candidates, [](const auto &a, const auto &b) {
    return std::tie(a.belief, a.freely, b.step) >
           std::tie(b.belief, b.freely, a.step);
  });
  return result;
}

Alignment Aligner::run() {
  Alignment result;
  result.nodes.resize(graph.nodes.size());
  if (states.size() == 0 || observations.size() == 0)
    return result;
  anchors = findAnchors(observations, states, emissions, parameters);
  result.parameters = anchors.known;
  result.parametersFound = anchors.found;
  candidates = findCandidates(observations, states, frames, emissions, anchors,
                              parameters);
  reach.emplace(states, emissions, parameters);
  costs.emplace(states, emissions, anchors, parameters);
  dataflow.emplace(observations, states, candidates, *reach, parameters);

  Posterior loose = free(), posterior;
  OrderModel model(candidates, *costs);
  std::vector<Index> order = chooseOrder(model, loose, result);
  // Steps back are less rare in an order that was reconstructed.
  const BackCost back =
      result.ownOrder
          ? BackCost{parameters.backOnce, parameters.backEach}
          : BackCost{parameters.backOnceResorted, parameters.backEachResorted};
  llvm::ArrayRef<float> evidence;
  if (!result.ownOrder)
    evidence = dataflow->evidence;
  model.forward(order, evidence, back);
  ordered(model, order, back, posterior);
  answer(posterior, loose, result);
  for (int32_t node : options.explain)
    result.explanations.push_back(explain(node, posterior, loose));
  return result;
}

Alignment htp::align(const Graph &graph, const Program &program,
                     llvm::ArrayRef<ModulePlace> modules,
                     const AlignmentOptions &options) {
  return Aligner(graph, program, modules, options).run();
}
