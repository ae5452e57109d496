// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order evidence: both graphs are topologically ordered, and exporters keep
// the order of execution for the most part. A left-to-right hidden Markov
// model, linear in the number of candidates: ways ahead and back are running
// sums over the sorted candidates of two rows.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace htp;
using namespace htp::alignment;

namespace {
constexpr float kSkip = 0.7f, kSkipCheap = 0.1f, kSkipAnchored = 4.0f;
constexpr float kStaySeveral = -0.7f, kStayOne = -3.0f;
/// A way from anywhere to anywhere, so that no row is ever without belief.
constexpr double kTeleport = 1e-18;
} // namespace

OrderCosts::OrderCosts(const States &states, const Emissions &emissions,
                       const Anchors &anchors)
    : skip(states.size()), stay(states.size()), many(states.size()) {
  for (Index t = 0; t < states.size(); ++t) {
    Index kind = states.list[t].kind;
    stay[t] = kStayOne;
    if (states.list[t].isGap)
      stay[t] = kStaySeveral;
    if (kind < 0) // nothing shows that it has nodes
      continue;
    const EmissionRule &rule = emissions.rule(kind);
    skip[t] = rule.silent || !emissions.shows(kind) ? 0.0f
              : rule.cheap                          ? kSkipCheap
                                                    : kSkip;
    if (rule.emitsSeveral())
      stay[t] = kStaySeveral;
    many[t] = rule.many;
  }
  std::vector<bool> anchored(states.size());
  for (Index t : anchors.states.items)
    anchored[t] = true;
  skipped.assign(1, 0);
  for (Index t = 0; t < states.size(); ++t) {
    if (anchored[t])
      skip[t] += kSkipAnchored;
    skipped.push_back(skipped.back() + skip[t]);
  }
}

namespace {

/// Two phases of each candidate: before its main node came, and after.
struct Phases {
  double before = 0, after = 0;
};

class OrderModel {
public:
  OrderModel(const Rows<Candidate> &candidates, llvm::ArrayRef<float> evidence,
             const OrderCosts &costs, BackCost back)
      : candidates(candidates), evidence(evidence), costs(costs), back(back),
        backOnce(std::exp(-back.once)) {}

  double run(llvm::ArrayRef<Index> order, Posterior &posterior);

private:
  struct Emitted {
    double main, part;
  };
  double emit(Index n, std::vector<Emitted> &row) const;
  void enter(llvm::ArrayRef<Candidate> from, llvm::ArrayRef<double> leave,
             llvm::ArrayRef<Candidate> to, std::vector<double> &arrive) const;
  void reach(llvm::ArrayRef<Candidate> from, llvm::ArrayRef<Candidate> to,
             llvm::ArrayRef<double> arrive, std::vector<double> &leave) const;
  double aheadCost(Index from, Index to) const { // from < to
    return std::exp(costs.skipped[from + 1] - costs.skipped[to]);
  }
  double skipOne(Index t) const { return std::exp(-costs.skip[t]); }
  double stayOn(Index t) const { return std::exp(costs.stay[t]); }

  const Rows<Candidate> &candidates;
  llvm::ArrayRef<float> evidence;
  const OrderCosts &costs;
  BackCost back;
  double backOnce;
};

} // namespace

/// The row's likelihoods, scaled so that the largest is 1; returns the log of
/// the scale.
double OrderModel::emit(Index n, std::vector<Emitted> &row) const {
  llvm::ArrayRef<Candidate> own = candidates[n];
  size_t begin = candidates.begins[n];
  row.resize(own.size());
  double top = -1e30;
  for (size_t i = 0; i < own.size(); ++i)
    top =
        std::max<double>(top, std::max(own[i].main, own[i].part) +
                                  (evidence.empty() ? 0 : evidence[begin + i]));
  for (size_t i = 0; i < own.size(); ++i) {
    double e = (evidence.empty() ? 0 : evidence[begin + i]) - top;
    row[i] = {std::exp(own[i].main + e), std::exp(own[i].part + e)};
  }
  return top;
}

/// arrive[j] = sum over the other states that are left, times the way to
/// to[j].
void OrderModel::enter(llvm::ArrayRef<Candidate> from,
                       llvm::ArrayRef<double> leave,
                       llvm::ArrayRef<Candidate> to,
                       std::vector<double> &arrive) const {
  double total = 0;
  for (double weight : leave)
    total += weight;
  arrive.assign(to.size(), total * kTeleport);
  // Ahead: a running sum, discounted for the states between.
  double sum = 0;
  Index at = -1; // `sum` is what has left, as seen just after this state
  size_t i = 0;
  auto advance = [&](Index state) {
    if (sum > 0 && at != state)
      sum *= std::exp(costs.skipped[at + 1] - costs.skipped[state + 1]);
    at = state;
  };
  for (size_t j = 0; j < to.size(); ++j) {
    for (; i < from.size() && from[i].state < to[j].state; ++i) {
      advance(from[i].state);
      sum += leave[i];
    }
    if (sum > 0)
      arrive[j] += sum * aheadCost(at, to[j].state);
  }
  // Back: the same from the other end, discounted by distance.
  sum = 0;
  at = -1;
  i = from.size();
  for (size_t j = to.size(); j-- > 0;) {
    for (; i > 0 && from[i - 1].state > to[j].state; --i) {
      if (sum > 0)
        sum *= std::exp(-back.each * (at - from[i - 1].state));
      at = from[i - 1].state;
      sum += leave[i - 1];
    }
    if (sum > 0)
      arrive[j] += sum * backOnce * std::exp(-back.each * (at - to[j].state));
  }
}

/// leave[i] = sum over the other states that are arrived at, times the way
/// there from from[i].
void OrderModel::reach(llvm::ArrayRef<Candidate> from,
                       llvm::ArrayRef<Candidate> to,
                       llvm::ArrayRef<double> arrive,
                       std::vector<double> &leave) const {
  double total = 0;
  for (double weight : arrive)
    total += weight;
  leave.assign(from.size(), total * kTeleport);
  double sum = 0;
  Index at = -1; // `sum` is what can be arrived at, as seen at this state
  size_t j = to.size();
  for (size_t i = from.size(); i-- > 0;) {
    for (; j > 0 && to[j - 1].state > from[i].state; --j) {
      Index state = to[j - 1].state;
      if (sum > 0)
        sum *= std::exp(costs.skipped[state] - costs.skipped[at]);
      at = state;
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
        sum *= std::exp(-back.each * (to[j].state - at));
      at = to[j].state;
      sum += arrive[j];
    }
    if (sum > 0)
      leave[i] += sum * backOnce * std::exp(-back.each * (from[i].state - at));
  }
}

double OrderModel::run(llvm::ArrayRef<Index> order, Posterior &posterior) {
  posterior.assign(candidates.items.size(), 0);
  std::vector<Phases> forward(candidates.items.size());
  std::vector<Emitted> row;
  std::vector<double> leave, arrive;
  double likelihood = 0;
  double all = costs.skipped.back();

  for (size_t k = 0; k < order.size(); ++k) {
    Index n = order[k];
    llvm::ArrayRef<Candidate> own = candidates[n];
    Phases *now = forward.data() + candidates.begins[n];
    likelihood += emit(n, row);
    llvm::ArrayRef<Candidate> last;
    const Phases *old = nullptr;
    if (k == 0) {
      arrive.clear();
      for (const Candidate &candidate : own)
        arrive.push_back(
            std::max(std::exp(-costs.skipped[candidate.state]), kTeleport));
    } else {
      last = candidates[order[k - 1]];
      old = forward.data() + candidates.begins[order[k - 1]];
      leave.clear();
      for (size_t i = 0; i < last.size(); ++i)
        leave.push_back(old[i].after + old[i].before * skipOne(last[i].state));
      enter(last, leave, own, arrive);
    }
    double total = 0;
    size_t i = 0;
    for (size_t j = 0; j < own.size(); ++j) {
      Index state = own[j].state;
      Phases stayed;
      while (i < last.size() && last[i].state < state)
        ++i;
      if (i < last.size() && last[i].state == state) {
        stayed.before = old[i].before * stayOn(state);
        stayed.after = old[i].after * stayOn(state);
      }
      double entered = stayed.before + arrive[j];
      double again = costs.many[state] ? stayed.after : 0;
      now[j].before = row[j].part * entered;
      now[j].after =
          row[j].main * (entered + again) + row[j].part * stayed.after;
      total += now[j].before + now[j].after;
    }
    total = std::max(total, 1e-300);
    for (size_t j = 0; j < own.size(); ++j) {
      now[j].before /= total;
      now[j].after /= total;
    }
    likelihood += std::log(total);
  }

  std::vector<Phases> ahead, here;
  for (size_t k = order.size(); k-- > 0;) {
    Index n = order[k];
    llvm::ArrayRef<Candidate> own = candidates[n];
    here.assign(own.size(), {});
    if (k + 1 == order.size()) {
      double top = 1e300;
      for (const Candidate &candidate : own)
        top = std::min(top, all - costs.skipped[candidate.state + 1]);
      for (size_t j = 0; j < own.size(); ++j) {
        Index state = own[j].state;
        here[j].after = std::exp(top - (all - costs.skipped[state + 1]));
        here[j].before = here[j].after * skipOne(state);
      }
    } else {
      Index m = order[k + 1];
      llvm::ArrayRef<Candidate> later = candidates[m];
      emit(m, row);
      arrive.clear();
      for (size_t i = 0; i < later.size(); ++i)
        arrive.push_back(row[i].part * ahead[i].before +
                         row[i].main * ahead[i].after);
      reach(own, later, arrive, leave);
      size_t i = 0;
      for (size_t j = 0; j < own.size(); ++j) {
        Index state = own[j].state;
        here[j].before = leave[j] * skipOne(state);
        here[j].after = leave[j];
        while (i < later.size() && later[i].state < state)
          ++i;
        if (i < later.size() && later[i].state == state) {
          double again = costs.many[state] ? row[i].main * ahead[i].after : 0;
          here[j].before += stayOn(state) * arrive[i];
          here[j].after +=
              stayOn(state) * (row[i].part * ahead[i].after + again);
        }
      }
    }
    const Phases *then = forward.data() + candidates.begins[n];
    double sum = 0, top = 0;
    float *out = posterior.data() + candidates.begins[n];
    for (size_t j = 0; j < own.size(); ++j) {
      double both =
          then[j].before * here[j].before + then[j].after * here[j].after;
      sum += both;
      top = std::max({top, here[j].before, here[j].after});
      here[j].before = std::max(here[j].before, 1e-300);
    }
    for (size_t j = 0; j < own.size(); ++j) {
      double both =
          then[j].before * here[j].before + then[j].after * here[j].after;
      out[j] = sum > 0 ? both / sum : 1.0f / own.size();
    }
    if (top > 0)
      for (Phases &phases : here) {
        phases.before /= top;
        phases.after /= top;
      }
    std::swap(ahead, here);
  }
  return likelihood;
}

double alignment::forwardBackward(const Rows<Candidate> &candidates,
                                  llvm::ArrayRef<float> evidence,
                                  llvm::ArrayRef<Index> order,
                                  const OrderCosts &costs, BackCost back,
                                  Posterior &posterior) {
  return OrderModel(candidates, evidence, costs, back).run(order, posterior);
}
