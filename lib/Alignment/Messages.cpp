// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dataflow evidence. The producer of a node was emitted by the same step as the
// node, or by a step that feeds it, perhaps through steps that left no node.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace htp;
using namespace htp::alignment;

static constexpr float kNegligible = 1e-3f; // lower beliefs are not passed on
static constexpr float kRounding = 1e-6f;   // closer beliefs count as equal

Reach::Reach(const States &states, const Emissions &emissions,
             const AlignmentParameters &parameters) {
  // From each state, follow the edges of the program and keep the strongest way
  // to every state that can be reached.
  std::vector<float> best(states.size(), 0);
  std::vector<Index> touched, level, following;
  Column<std::pair<Index, Entry>> reversed;
  for (Index from = 0; from < states.size(); ++from) {
    touched.assign(1, from);
    level.assign(1, from);
    best[from] = parameters.sameStep;
    while (!level.empty()) {
      following.clear();
      for (Index at : level) {
        float through = at == from ? 1.0f : best[at];
        if (at != from)
          through *= states.list[at].kind >= 0 &&
                             emissions.rule(states.list[at].kind).silent
                         ? 1.0f
                         : parameters.through;
        if (through < parameters.faintest)
          continue;
        for (Index to : states.next[at]) {
          if (best[to] >= through)
            continue;
          if (best[to] == 0)
            touched.push_back(to);
          best[to] = through;
          following.push_back(to);
        }
      }
      std::swap(level, following);
    }
    llvm::sort(touched);
    for (Index to : touched) {
      forward.push({to, best[to]});
      best[to] = 0;
    }
    forward.close();
  }
  backward.begins.assign(states.size() + 1, 0);
  for (const Entry &entry : forward.items)
    ++backward.begins[entry.state + 1];
  for (Index t = 0; t < states.size(); ++t)
    backward.begins[t + 1] += backward.begins[t];
  backward.items.resize(forward.items.size());
  std::vector<unsigned> at(backward.begins.begin(), backward.begins.end() - 1);
  for (Index t = 0; t < states.size(); ++t)
    for (const Entry &entry : forward[t])
      backward.items[at[entry.state]++] = {t, entry.weight};
}

float Reach::find(llvm::ArrayRef<Entry> row, Index to) {
  auto found = llvm::lower_bound(
      row, to, [](const Entry &entry, Index t) { return entry.state < t; });
  return found != row.end() && found->state == to ? found->weight : 0;
}

Dataflow::Dataflow(const Observations &observations, const States &states,
                   const Rows<Candidate> &candidates, const Reach &reach,
                   const AlignmentParameters &parameters)
    : observations(observations), candidates(candidates), reach(reach),
      parameters(parameters), slots(states.size(), -1),
      changed(observations.size()) {
  isGap.reserve(states.size());
  for (const State &state : states.list)
    isGap.push_back(state.isGap);
  restart();
}

void Dataflow::restart() {
  told.assign(candidates.items.size(), -1);
  evidence.resize(candidates.items.size(), 0);
}

bool Dataflow::weigh(const Posterior &posterior) {
  if (!tell(posterior))
    return false;
  auto hasChanged = [&](Index other) { return changed[other]; };
  for (Index n = 0; n < observations.size(); ++n)
    if (candidates[n].size() > 1 && // one candidate needs no evidence
        (llvm::any_of(observations.prev[n], hasChanged) ||
         llvm::any_of(observations.next[n], hasChanged)))
      weigh(n);
  return true;
}

void Dataflow::weigh(Index n) {
  llvm::ArrayRef<Index> prev = observations.prev[n],
                        next = observations.next[n];
  llvm::ArrayRef<Candidate> own = candidates[n];
  for (size_t i = 0; i < own.size(); ++i)
    slots[own[i].state] = i;
  llvm::fill(evidenceOf(n), 0);
  if (!prev.empty())
    collect(n, prev, reach.forward,
            (prev.size() > 1 ? std::sqrt(2.0f) : 1.0f) / prev.size(),
            /*anyOne=*/false);
  if (!next.empty())
    // Exporters keep a size once although several nodes read it. It was made
    // for one of them, so one reader that fits is enough.
    collect(n, next, reach.backward, 1.0f / next.size(),
            /*anyOne=*/observations.list[n].size);
  for (const Candidate &candidate : own)
    slots[candidate.state] = -1;
}

/// Updates the beliefs that nodes pass on to their neighbours, and marks the
/// nodes whose beliefs have changed. Returns whether any has.
bool Dataflow::tell(const Posterior &posterior) {
  auto heard = [&](size_t i) {
    return posterior[i] > kNegligible ? posterior[i] : 0;
  };
  bool any = false;
  for (Index n = 0; n < observations.size(); ++n) {
    bool differs = false;
    size_t begin = candidates.begins[n], end = candidates.begins[n + 1];
    for (size_t i = begin; i < end; ++i)
      differs |= std::abs(heard(i) - told[i]) > kRounding;
    if (differs)
      for (size_t i = begin; i < end; ++i)
        told[i] = heard(i);
    changed[n] = differs;
    any |= differs;
  }
  return any;
}

/// Adds the evidence from the producers of a node, or from its consumers. With
/// `anyOne`, one neighbour that fits is enough.
void Dataflow::collect(Index n, llvm::ArrayRef<Index> neighbours,
                       const Rows<Reach::Entry> &ways, float weight,
                       bool anyOne) {
  const float logNoWay = std::log(parameters.noWay);
  llvm::ArrayRef<Candidate> own = candidates[n];
  sum.resize(own.size());
  total.assign(own.size(), 0);
  for (Index other : neighbours) {
    float inGaps = sumWays(other, own, ways);
    for (size_t i = 0; i < own.size(); ++i) {
      float any = isGap[own[i].state] ? 1 : inGaps;
      float way = std::max(sum[i], parameters.gapWay * any);
      sum[i] = 0;
      total[i] += anyOne     ? way
                  : way == 0 ? logNoWay
                             : std::log(way + parameters.noWay);
    }
  }
  if (anyOne)
    for (float &way : total)
      way = neighbours.size() *
            std::log(way / neighbours.size() + parameters.noWay);
  llvm::MutableArrayRef<float> result = evidenceOf(n);
  for (size_t i = 0; i < own.size(); ++i)
    result[i] += weight * total[i];
}

/// Adds to sum[i] the weight of the way to own[i], averaged over the states in
/// which `other` is believed to be. Returns how much of that belief is in gaps.
float Dataflow::sumWays(Index other, llvm::ArrayRef<Candidate> own,
                        const Rows<Reach::Entry> &ways) {
  float inGaps = 0;
  for (size_t k = candidates.begins[other]; k < candidates.begins[other + 1];
       ++k) {
    float belief = told[k];
    if (belief == 0)
      continue;
    Index state = candidates.items[k].state;
    if (isGap[state])
      inGaps += belief;
    llvm::ArrayRef<Reach::Entry> row = ways[state];
    if (row.size() > 8 * own.size()) { // a state with very many readers
      for (size_t i = 0; i < own.size(); ++i)
        sum[i] += belief * Reach::find(row, own[i].state);
      continue;
    }
    for (const Reach::Entry &way : row)
      if (Index i = slots[way.state]; i >= 0)
        sum[i] += belief * way.weight;
  }
  return inGaps;
}
