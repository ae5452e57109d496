// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the states that each observation is weighed against, and scores how
// well each of them explains it. A node lies between the anchored nodes around
// it, so its candidates are the states between theirs. If that is a wide
// stretch of the program, only states of a fitting kind are taken, and those
// around the node's place in the file.

#include "Ancestry.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace htp;
using namespace htp::alignment;

namespace {

/// The log-likelihood of what is impossible.
constexpr float kNever = -1e9;

/// Where in the program a node may lie, given the anchored nodes around it.
struct Bounds {
  static constexpr unsigned kKept = 4;
  /// The node lies in this stretch of the program.
  Index low = 0, high = 0;
  /// The nearest anchored states that the node's contents come from (`after`),
  /// and those that its value goes into (`before`). Ways through a Shape do not
  /// count: a program that was traced with fixed sizes has no such way.
  llvm::SmallVector<Index, kKept> after, before;
  /// Like `after`, without arguments of the model.
  llvm::SmallVector<Index, kKept> made;
  /// The innermost frame that contains all anchored nodes which its value goes
  /// to; -1 if there are none.
  Index readers = -1;
  /// Whether `readers` tells where the node ran. It does for data. It does not
  /// for a size that several unrelated modules happen to need.
  bool data = false;
};

class CandidateFinder {
public:
  CandidateFinder(const Observations &observations, const States &states,
                  const Frames &frames, const Emissions &emissions,
                  const Anchors &anchors, const AlignmentParameters &parameters)
      : observations(observations), states(states), frames(frames),
        emissions(emissions), anchors(anchors), parameters(parameters),
        gap(std::log(parameters.gap)), part(std::log(parameters.part)),
        wrap(std::log(parameters.wrap)), other(std::log(parameters.other)),
        perhaps(std::log(parameters.perhaps)), ancestry(states),
        shape(emissions.findOp("Shape")),
        transpose(emissions.findOp("Transpose")) {}

  Candidates run();

private:
  void findBounds();
  void findReaders();
  void findPlaces();
  void findCentres();
  void markRead();
  void findShapes(Index n);
  void choose(Index n);
  void chooseByKind(Index n, Index low, Index high);
  Candidate score(Index n, Index t) const;
  float weightShapes(Index n, Index t) const;
  bool isApart(Index n, Index t) const;
  bool between(Index n, Index t) const;
  bool sharedBeyond(Index n, Index frame) const;
  bool mayLieInGap(Index n, Index frame) const;

  const Observations &observations;
  const States &states;
  const Frames &frames;
  const Emissions &emissions;
  const Anchors &anchors;
  const AlignmentParameters &parameters;
  /// The logarithms of the parameters with these names.
  const float gap, part, wrap, other, perhaps;
  Ancestry ancestry;
  /// Shape, which reads nothing but the shape of a tensor, and Transpose, which
  /// a linear layer emits only for its weight.
  Index shape, transpose;
  std::vector<Bounds> bounds;
  /// Per node, the states of the anchored nodes before and after it in the
  /// file.
  std::vector<std::pair<Index, Index>> places;
  /// Per node, the state in which it would be if the nodes between two anchored
  /// ones were spaced evenly.
  std::vector<Index> centres;
  /// Per state, whether any node is anchored in it.
  std::vector<bool> read;
  // For the node whose candidates are being found: the chosen states, the
  // number of its result's shape (0: not known), and the shapes of its large
  // constants.
  llvm::SmallVector<Index> chosen;
  Index madeShape = 0;
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 2> largeShapes;
};

} // namespace

/// Keeps the tightest bounds in `gathered`, without duplicates.
template <typename Tighter>
static void keepTightest(llvm::SmallVectorImpl<Index> &gathered,
                         Tighter tighter) {
  if (gathered.size() > 1) {
    std::sort(gathered.begin(), gathered.end(), tighter);
    gathered.erase(llvm::unique(gathered), gathered.end());
  }
  if (gathered.size() > Bounds::kKept)
    gathered.truncate(Bounds::kKept);
}

/// Passes bounds along the edges of the graph. A node inherits the bounds of
/// its producers; a producer that is anchored is a bound itself. A second pass
/// does the same from consumers to producers.
void CandidateFinder::findBounds() {
  bounds.resize(observations.size());
  // Gather here first, so that a node's own lists never outgrow their inline
  // storage.
  llvm::SmallVector<Index, 128> gathered, made;
  for (Index n = 0; n < observations.size(); ++n) {
    Bounds &own = bounds[n];
    gathered.clear();
    made.clear();
    for (Index p : observations.prev[n]) {
      bool anchored = anchors.has(p);
      Index state = anchored ? anchors.states[p].front() : bounds[p].low;
      own.low = std::max(own.low, state);
      if (observations.list[n].op == shape)
        continue;
      if (!anchored) {
        gathered.append(bounds[p].after);
        made.append(bounds[p].made);
        continue;
      }
      gathered.push_back(state);
      if (!observations.list[p].isInput)
        made.push_back(state);
    }
    keepTightest(gathered, std::greater<Index>());
    keepTightest(made, std::greater<Index>());
    own.after.assign(gathered);
    own.made.assign(made);
  }
  for (Index n = observations.size(); n-- > 0;) {
    Bounds &own = bounds[n];
    own.high = states.size() - 1;
    gathered.clear();
    for (Index m : observations.next[n]) {
      bool anchored = anchors.has(m);
      Index state = anchored ? anchors.states[m].back() : bounds[m].high;
      own.high = std::min(own.high, state);
      if (observations.list[m].op == shape && !observations.list[n].size)
        continue;
      if (anchored)
        gathered.push_back(state);
      else
        gathered.append(bounds[m].before);
      if (gathered.size() > 64) // many consumers: only the tightest matter
        keepTightest(gathered, std::less<Index>());
    }
    keepTightest(gathered, std::less<Index>());
    own.before.assign(gathered);
  }
}

/// Finds the frame that contains all readers of each node's value. A value is
/// followed until another anchored value joins it: from there on, the place of
/// a reader says nothing about this node.
void CandidateFinder::findReaders() {
  if (!frames.known())
    return;
  auto frameOf = [&](Index t) { return states.list[t].frame; };
  for (Index n = observations.size(); n-- > 0;) {
    Bounds &own = bounds[n];
    auto add = [&](Index frame) {
      own.readers = own.readers < 0 ? frame : frames.common(own.readers, frame);
    };
    for (Index m : observations.next[n]) {
      if (observations.list[m].isOutput)
        continue;
      auto joined = llvm::find_if(bounds[m].made, [&](Index t) {
        return !llvm::is_contained(own.made, t);
      });
      if (anchors.has(m)) {
        // If the node is anchored in several calls of one module, the first
        // call stands for all of them. If it is anchored in several modules
        // (their parameters are equal), it tells nothing.
        Index first = anchors.states[m].front();
        if (llvm::all_of(anchors.states[m], [&](Index t) {
              return states.list[t].module == states.list[first].module;
            }))
          add(frameOf(first));
      } else if (joined != bounds[m].made.end())
        add(frameOf(*joined));
      else if (bounds[m].readers >= 0)
        add(bounds[m].readers);
    }
    // Several modules may happen to need the same size, so the readers of a
    // size tell where it was made only if everything that reads it is such data
    // and has the same readers.
    own.data = !observations.list[n].size ||
               llvm::all_of(observations.next[n], [&](Index m) {
                 return !anchors.has(m) && bounds[m].data &&
                        bounds[m].readers == own.readers;
               });
  }
}

/// Finds the anchors before and after each node in the file. Exporters mostly
/// keep the order of execution, so the node probably ran between them.
void CandidateFinder::findPlaces() {
  places.resize(observations.size());
  auto only = [&](Index n) {
    return anchors.states[n].size() == 1 ? anchors.states[n].front() : -1;
  };
  Index last = 0;
  for (Index n = 0; n < observations.size(); ++n) {
    if (only(n) >= 0 && !observations.list[n].isInput)
      last = only(n);
    places[n].first = last;
  }
  last = states.size() - 1;
  for (Index n = observations.size(); n-- > 0;) {
    if (only(n) >= 0 && !observations.list[n].isOutput)
      last = only(n);
    places[n].second = last;
  }
}

void CandidateFinder::findCentres() {
  centres.resize(observations.size());
  Index lastNode = 0, lastState = 0;
  auto space = [&](Index node, Index state) {
    for (Index n = lastNode; n < node; ++n)
      centres[n] = lastState + int64_t(n - lastNode) * (state - lastState) /
                                   (node - lastNode);
    lastNode = node;
    lastState = state;
  };
  for (Index n = 0; n < observations.size(); ++n)
    if (anchors.states[n].size() == 1 && !observations.list[n].isInput &&
        !observations.list[n].isOutput)
      space(n, anchors.states[n].front());
  space(observations.size(), states.size() - 1);
}

void CandidateFinder::markRead() { read = anchors.taken; }

bool CandidateFinder::between(Index n, Index t) const {
  const Bounds &own = bounds[n];
  if (t < own.low || t > own.high)
    return false;
  return states.list[t].isGap || // a gap has no edges that could rule it out
         (llvm::all_of(own.after,
                       [&](Index a) { return ancestry.mayReach(a, t); }) &&
          llvm::all_of(own.before,
                       [&](Index b) { return ancestry.mayReach(t, b); }));
}

/// Whether the node's value is read inside the call `frame` and outside of it
/// as well. Such a value was seldom made inside that call, unless it was made
/// from something else that was made there.
bool CandidateFinder::sharedBeyond(Index n, Index frame) const {
  Index readers = bounds[n].readers;
  if (readers < 0 || !bounds[n].data || frame == readers ||
      !frames.inside(frame, readers))
    return false;
  Index child = frames.childTowards(readers, frame);
  auto inChild = [&](Index t) {
    return frames.inside(states.list[t].frame, child);
  };
  return llvm::any_of(bounds[n].before, inChild) &&
         llvm::none_of(bounds[n].made, inChild);
}

/// Whether the node may have run in a gap of `frame`. A value that several
/// calls read and that none of them made may come from a step that was folded
/// away when the program was traced. That step ran in a module that contains
/// all of these calls.
bool CandidateFinder::mayLieInGap(Index n, Index frame) const {
  const Bounds &own = bounds[n];
  return own.data && own.readers >= 0 && own.made.empty() &&
         frames.inside(own.readers, frame) &&
         llvm::any_of(own.before, [&](Index t) {
           return states.list[t].frame != own.readers &&
                  frames.inside(states.list[t].frame, own.readers);
         });
}

/// The penalty for a weight of another shape than the step's parameters. A
/// weight whose contents were changed (by a folded batch norm) has kept its
/// shape, apart from the order of its dimensions.
float CandidateFinder::weightShapes(Index n, Index t) const {
  if (largeShapes.empty() || states.list[t].kind < 0)
    return 0;
  bool sameRank = false;
  for (Index parameter : states.program.steps[states.list[t].step].parameters) {
    llvm::SmallVector<int64_t, 4> shape =
        states.program.parameters[parameter].content.shape;
    llvm::sort(shape);
    for (const auto &mine : largeShapes) {
      if (mine == shape)
        return 0;
      sameRank |= mine.size() == shape.size();
    }
  }
  return sameRank ? parameters.misshapenWeight : 0;
}

/// Whether a node is no part of a step whose main node is known, because that
/// reads the step's parameter: parts are beside it, or beside another part.
/// Only where parts stand for the main node itself may they be further away;
/// sizes, and the positions that steps of several nodes compute, may come from
/// anywhere.
bool CandidateFinder::isApart(Index n, Index t) const {
  const Observation &observation = observations.list[n];
  if (observation.size || states.list[t].kind < 0 ||
      states.program.steps[states.list[t].step].parameters.empty())
    return false;
  const EmissionRule &rule = emissions.rule(states.list[t].kind);
  if (rule.instead || (rule.many && observation.integer))
    return false;
  auto isMain = [&](Index m) {
    return llvm::is_contained(anchors.states[m], t);
  };
  // What many nodes share is beside none of them in particular.
  constexpr size_t kMany = 16;
  auto any = [&](llvm::ArrayRef<Index> beside, auto holds) {
    return beside.size() <= kMany && llvm::any_of(beside, holds);
  };
  auto isBeside = [&](Index m) {
    return isMain(m) || any(observations.prev[m], isMain) ||
           any(observations.next[m], isMain);
  };
  return !any(observations.prev[n], isBeside) &&
         !any(observations.next[n], isBeside);
}

Candidate CandidateFinder::score(Index n, Index t) const {
  const Observation &observation = observations.list[n];
  const State &state = states.list[t];
  Candidate candidate{t, kNever, other};
  if (observation.isInput || observation.isOutput) {
    if (observation.isInput ? state.isInput : state.isOutput)
      candidate.main = 0;
    return candidate;
  }
  if (state.isGap)
    candidate.part = gap;
  else if (state.kind < 0)
    return candidate;
  switch (howEmits(emissions, state.kind, observation)) {
  case Emits::Main:
    candidate.main = 0;
    break;
  case Emits::Part:
  case Emits::Sizes:
  case Emits::Indices:
    candidate.part = part;
    break;
  case Emits::Wrap:
    candidate.part = wrap;
    break;
  case Emits::Perhaps:
    candidate.part = perhaps;
    break;
  case Emits::Nothing:
    break;
  }
  if (anchors.has(n)) {
    if (!llvm::is_contained(anchors.states[n], t)) {
      candidate.main += parameters.misread;
      candidate.part += parameters.misread;
    }
  } else {
    candidate.main += weightShapes(n, t);
    if (read[t]) { // the nodes that are anchored in it are its main nodes
      candidate.main += parameters.unread;
      if (observation.op == transpose || isApart(n, t))
        candidate.part += parameters.unread;
    }
  }
  if (madeShape && state.shape && madeShape != state.shape) {
    candidate.main += parameters.misshapen;
    if (observation.wrapsResult)
      candidate.part += 3 * parameters.misshapen;
  }
  float place = 0;
  if (!between(n, t))
    place += parameters.outside;
  if (!anchors.has(n) && !state.repeated && sharedBeyond(n, state.frame))
    candidate.part += parameters.shared;
  candidate.main += place;
  candidate.part += place;
  return candidate;
}

void CandidateFinder::chooseByKind(Index n, Index low, Index high) {
  const Observation &observation = observations.list[n];
  auto addAround = [&](llvm::ArrayRef<Index> sorted, Index place, Index count) {
    auto at = llvm::lower_bound(sorted, place);
    auto first = at - std::min<ptrdiff_t>(count, at - sorted.begin());
    auto last = at + std::min<ptrdiff_t>(count, sorted.end() - at);
    for (; first != last; ++first)
      if (*first >= low && *first <= high)
        chosen.push_back(*first);
  };
  for (Index kind : emissions.kindsOf(observation.op)) {
    Emits emits = howEmits(emissions, kind, observation);
    if (emits == Emits::Nothing)
      continue;
    llvm::ArrayRef<Index> ofKind = states.ofKind[kind];
    // A few states at either end of the stretch, and around the anchors before
    // and after the node in the file.
    Index count = emits == Emits::Main ? 12 : 4;
    for (Index place : {low, high, places[n].first, places[n].second})
      addAround(ofKind, place, count);
  }
}

void CandidateFinder::choose(Index n) {
  chosen.clear();
  if (anchors.has(n)) {
    chosen.append(anchors.states[n].begin(), anchors.states[n].end());
    return;
  }
  const Observation &observation = observations.list[n];
  if (observation.isInput || observation.isOutput) {
    for (Index t = 0; t < states.size(); ++t)
      if (observation.isInput ? states.list[t].isInput
                              : states.list[t].isOutput)
        chosen.push_back(t);
    if (chosen.empty())
      chosen.push_back(observation.isInput ? 0 : states.size() - 1);
    return;
  }
  auto [low, high] = std::pair(bounds[n].low, bounds[n].high);
  if (low > high)
    std::swap(low, high);
  low = std::max(0, low - parameters.margin);
  high = std::min(states.size() - 1, high + parameters.margin);
  auto addAll = [&](Index from, Index to) {
    for (Index t = std::max(from, 0); t <= std::min(to, states.size() - 1); ++t)
      chosen.push_back(t);
  };
  if (high - low <= parameters.wide) {
    addAll(low, high);
  } else {
    chooseByKind(n, low, high);
    auto [before, after] = places[n];
    if (after >= before && after - before <= parameters.wide)
      addAll(before - 2, after + 2);
    addAll(centres[n] - parameters.around, centres[n] + parameters.around);
    llvm::sort(chosen);
    chosen.erase(llvm::unique(chosen), chosen.end());
  }
  if (chosen.empty())
    addAll(low, std::min(high, low + parameters.wide));
}

/// Notes the shape of the node's result, and those of its large constants.
void CandidateFinder::findShapes(Index n) {
  madeShape = 0;
  largeShapes.clear();
  const Observation &observation = observations.list[n];
  if (observation.isInput || observation.isOutput)
    return;
  const Graph &graph = observations.graph;
  const GraphNode &node = graph.nodes[observation.node];
  if (!node.outputs.empty() && node.outputs[0] >= 0)
    if (const GraphValue &made = graph.values[node.outputs[0]]; made.hasShape)
      madeShape = states.findShape(made.shape);
  if (anchors.has(n))
    return;
  for (Index value : node.inputs) {
    if (value < 0 || graph.values[value].constant < 0)
      continue;
    const TensorContent &content =
        graph.constants[graph.values[value].constant];
    if (content.shape.size() > 1 && content.kind == ElementKind::Float) {
      largeShapes.push_back(content.shape);
      llvm::sort(largeShapes.back());
    }
  }
}

Candidates CandidateFinder::run() {
  findBounds();
  findReaders();
  findPlaces();
  findCentres();
  markRead();
  Candidates candidates;
  candidates.begins.reserve(observations.size() + 1);
  candidates.homes.reserve(observations.size());
  for (Index n = 0; n < observations.size(); ++n) {
    findShapes(n);
    choose(n);
    for (Index t : chosen)
      if (!states.list[t].isGap || mayLieInGap(n, states.list[t].frame) ||
          chosen.size() == 1)
        candidates.push(score(n, t));
    candidates.close();
    candidates.homes.push_back(bounds[n].after.empty() ? bounds[n].readers
                                                       : -1);
  }
  return candidates;
}

Candidates alignment::findCandidates(const Observations &observations,
                                     const States &states, const Frames &frames,
                                     const Emissions &emissions,
                                     const Anchors &anchors,
                                     const AlignmentParameters &parameters) {
  return CandidateFinder(observations, states, frames, emissions, anchors,
                         parameters)
      .run();
}
