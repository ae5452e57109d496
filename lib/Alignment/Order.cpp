// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order evidence. Program and graph are both topologically ordered, and
// exporters mostly keep the order of execution. This is modelled by a
// left-to-right hidden Markov model, in which a node's row holds its
// candidates. Going ahead and going back are computed by running sums over the
// sorted candidates of two rows, so the cost is linear in the number of
// candidates.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace htp;
using namespace htp::alignment;

namespace {
/// The likelihood of a jump from any state to any other, so that no row ever
/// loses all belief. It is so small that a jump does not pay even if a hundred
/// nodes would fit a little better elsewhere.
constexpr double kTeleport = 1e-60;
} // namespace

OrderCosts::OrderCosts(const States &states, const Emissions &emissions,
                       const Anchors &anchors,
                       const AlignmentParameters &parameters)
    : skip(states.size()), stay(states.size()), many(states.size()) {
  for (Index t = 0; t < states.size(); ++t) {
    Index kind = states.list[t].kind;
    stay[t] = std::exp(parameters.stayOne);
    if (states.list[t].isGap)
      stay[t] = std::exp(parameters.staySeveral);
    if (kind < 0) // gaps, arguments and results cost nothing to skip
      continue;
    const EmissionRule &rule = emissions.rule(kind);
    skip[t] = rule.silent || !emissions.shows(kind) ? 0.0f
              : rule.cheap                          ? parameters.skipCheap
                                                    : parameters.skip;
    if (rule.emitsSeveral())
      stay[t] = std::exp(parameters.staySeveral);
    many[t] = rule.many;
  }
  skipped.assign(1, 0);
  for (Index t = 0; t < states.size(); ++t) {
    if (anchors.taken[t])
      skip[t] += parameters.skipAnchored;
    skipped.push_back(skipped.back() + skip[t]);
    skip[t] = std::exp(-skip[t]);
  }
}

double OrderModel::aheadCost(Index from, Index to) const {
  return from + 1 == to ? 1
                        : std::exp(costs.skipped[from + 1] - costs.skipped[to]);
}

double OrderModel::backCost(Index distance) const {
  return size_t(distance) < nearBack.size() ? nearBack[distance]
                                            : std::exp(-back.each * distance);
}

/// exp(), without a call of the library for the many candidates that cannot be
/// the main node.
static double likelihoodOf(double log) {
  constexpr double kLeast = -750; // exp() of it is 0
  return log < kLeast ? 0 : std::exp(log);
}

/// Computes how likely each candidate emits node `n`, scaled so that the
/// largest is 1. Returns the logarithm of the scale.
double OrderModel::emit(Index n, llvm::ArrayRef<float> evidence) {
  llvm::ArrayRef<Candidate> own = candidates[n];
  Emitted *row = emitted.data() + candidates.begins[n];
  if (!evidence.empty())
    evidence = evidence.slice(candidates.begins[n], own.size());
  double top = -1e30;
  for (size_t i = 0; i < own.size(); ++i)
    top = std::max<double>(top, std::max(own[i].main, own[i].part) +
                                    (evidence.empty() ? 0 : evidence[i]));
  for (size_t i = 0; i < own.size(); ++i) {
    double e = (evidence.empty() ? 0 : evidence[i]) - top;
    row[i] = {likelihoodOf(own[i].main + e), likelihoodOf(own[i].part + e)};
  }
  return top;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// arrive[j] = the likelihood of starting in candidate j of the first node.
void OrderModel::start(Index n) {
  arrive.clear();
  for (const Candidate &candidate : candidates[n])
    arrive.push_back(
        std::max(std::exp(-costs.skipped[candidate.state]), kTeleport));
}

/// arrive[j] = the sum over all other states of the last node: the likelihood
/// of leaving the state, times that of the way to candidate j.
void OrderModel::enter(Index last, Index n) {
  llvm::ArrayRef<Candidate> from = candidates[last], to = candidates[n];
  const Phases *old = reached.data() + candidates.begins[last];
  double total = 0;
  leave.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    leave[i] = old[i].after + old[i].before * costs.skip[from[i].state];
    total += leave[i];
  }
  arrive.assign(to.size(), total * kTeleport);
  // Ahead: a running sum, discounted for the states that are skipped.
  double sum = 0;
  Index at = -1; // `sum` is discounted up to just after this state
  size_t i = 0;
  for (size_t j = 0; j < to.size(); ++j) {
    for (; i < from.size() && from[i].state < to[j].state; ++i) {
      if (sum > 0)
        sum *= aheadCost(at, from[i].state + 1);
      at = from[i].state;
      sum += leave[i];
    }
    if (sum > 0)
      arrive[j] += sum * aheadCost(at, to[j].state);
  }
  // Back: the same from the other end, discounted by distance.
  sum = 0;
  i = from.size();
  for (size_t j = to.size(); j-- > 0;) {
    for (; i > 0 && from[i - 1].state > to[j].state; --i) {
      if (sum > 0)
        sum *= backCost(at - from[i - 1].state);
      at = from[i - 1].state;
      sum += leave[i - 1];
    }
    if (sum > 0)
      arrive[j] += sum * backOnce * backCost(at - to[j].state);
  }
}

/// Computes what is reached at node `n`, from what arrived there and from what
/// stayed in a state of the node before. Scales the row so that its sum is 1;
/// returns the sum before.
double OrderModel::arriveAt(Index n, Index last) {
  llvm::ArrayRef<Candidate> own = candidates[n], from;
  const Phases *old = nullptr;
  if (last >= 0) {
    from = candidates[last];
    old = reached.data() + candidates.begins[last];
  }
  const Emitted *row = emitted.data() + candidates.begins[n];
  Phases *now = reached.data() + candidates.begins[n];
  double total = 0;
  size_t i = 0;
  for (size_t j = 0; j < own.size(); ++j) {
    Index state = own[j].state;
    Phases stayed;
    while (i < from.size() && from[i].state < state)
      ++i;
    if (i < from.size() && from[i].state == state) {
      stayed.before = old[i].before * costs.stay[state];
      stayed.after = old[i].after * costs.stay[state];
    }
    double entered = stayed.before + arrive[j];
    double again = costs.many[state] ? stayed.after : 0;
    now[j].before = row[j].part * entered;
    now[j].after = row[j].main * (entered + again) + row[j].part * stayed.after;
    total += now[j].before + now[j].after;
  }
  total = std::max(total, 1e-300);
  for (size_t j = 0; j < own.size(); ++j) {
    now[j].before /= total;
    now[j].after /= total;
  }
  return total;
}

double OrderModel::forward(llvm::ArrayRef<Index> order,
                           llvm::ArrayRef<float> evidence, BackCost back) {
  this->order = order;
  this->back = back;
  backOnce = std::exp(-back.once);
  for (size_t distance = 0; distance < nearBack.size(); ++distance)
    nearBack[distance] = std::exp(-back.each * distance);
  emitted.resize(candidates.items.size());
  reached.resize(candidates.items.size());
  double likelihood = 0;
  Index last = -1;
  for (Index n : order) {
    likelihood += emit(n, evidence);
    if (last < 0)
      start(n);
    else
      enter(last, n);
    likelihood += std::log(arriveAt(n, last));
    last = n;
  }
  return likelihood;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// here[j] = the likelihood of ending after candidate j of the last node: all
/// states after it are skipped.
void OrderModel::finish(Index n) {
  llvm::ArrayRef<Candidate> own = candidates[n];
  double all = costs.skipped.back(), top = 1e300;
  for (const Candidate &candidate : own)
    top = std::min(top, all - costs.skipped[candidate.state + 1]);
  here.resize(own.size());
  for (size_t j = 0; j < own.size(); ++j) {
    Index state = own[j].state;
    here[j].after = std::exp(top - (all - costs.skipped[state + 1]));
    here[j].before = here[j].after * costs.skip[state];
  }
}

/// leave[i] = the sum over all other states of the later node: the likelihood
/// of the way there from candidate i, times that of going on from there.
void OrderModel::reachBack(Index n, Index later) {
  llvm::ArrayRef<Candidate> from = candidates[n], to = candidates[later];
  const Emitted *row = emitted.data() + candidates.begins[later];
  double total = 0;
  arrive.resize(to.size());
  for (size_t j = 0; j < to.size(); ++j) {
    arrive[j] = row[j].part * ahead[j].before + row[j].main * ahead[j].after;
    total += arrive[j];
  }
  leave.assign(from.size(), total * kTeleport);
  double sum = 0;
  Index at = -1; // `sum` is discounted down to this state
  size_t j = to.size();
  for (size_t i = from.size(); i-- > 0;) {
    for (; j > 0 && to[j - 1].state > from[i].state; --j) {
      if (sum > 0)
        sum *= std::exp(costs.skipped[to[j - 1].state] - costs.skipped[at]);
      at = to[j - 1].state;
      sum += arrive[j - 1];
    }
    if (sum > 0)
      leave[i] += sum * aheadCost(from[i].state, at);
  }
  sum = 0;
  j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    for (; j < to.size() && to[j].state < from[i].state; ++j) {
      if (sum > 0)
        sum *= backCost(to[j].state - at);
      at = to[j].state;
      sum += arrive[j];
    }
    if (sum > 0)
      leave[i] += sum * backOnce * backCost(from[i].state - at);
  }
}

/// here[j] = the likelihood of all later nodes, given candidate j: by leaving
/// the state, or by staying in it if it is a state of the later node.
void OrderModel::leaveFrom(Index n, Index later) {
  llvm::ArrayRef<Candidate> own = candidates[n], to = candidates[later];
  const Emitted *row = emitted.data() + candidates.begins[later];
  here.resize(own.size());
  size_t i = 0;
  for (size_t j = 0; j < own.size(); ++j) {
    Index state = own[j].state;
    here[j].before = leave[j] * costs.skip[state];
    here[j].after = leave[j];
    while (i < to.size() && to[i].state < state)
      ++i;
    if (i == to.size() || to[i].state != state)
      continue;
    double again = costs.many[state] ? row[i].main * ahead[i].after : 0;
    here[j].before += costs.stay[state] * arrive[i];
    here[j].after += costs.stay[state] * (row[i].part * ahead[i].after + again);
  }
}

/// Joins the forward and the backward likelihoods of node `n` into its
/// posterior. Rescales the backward ones, so that they do not underflow.
void OrderModel::believe(Index n, llvm::MutableArrayRef<float> posterior) {
  const Phases *then = reached.data() + candidates.begins[n];
  auto both = [&](size_t j) {
    return then[j].before * here[j].before + then[j].after * here[j].after;
  };
  double sum = 0, top = 0;
  for (size_t j = 0; j < here.size(); ++j) {
    sum += both(j);
    top = std::max({top, here[j].before, here[j].after});
    here[j].before = std::max(here[j].before, 1e-300);
  }
  for (size_t j = 0; j < here.size(); ++j)
    posterior[j] = sum > 0 ? both(j) / sum : 1.0f / here.size();
  if (top > 0)
    for (Phases &phases : here) {
      phases.before /= top;
      phases.after /= top;
    }
}

void OrderModel::backward(Posterior &posterior) {
  posterior.resize(candidates.items.size());
  for (size_t k = order.size(); k-- > 0;) {
    Index n = order[k];
    if (k + 1 == order.size()) {
      finish(n);
    } else {
      reachBack(n, order[k + 1]);
      leaveFrom(n, order[k + 1]);
    }
    believe(n,
            llvm::MutableArrayRef(posterior).drop_front(candidates.begins[n]));
    std::swap(ahead, here);
  }
}
