// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Corrects the answers for nodes that are not the main node of a step: size
// arithmetic, nodes that an optimizer kept once for several steps, and changes
// of precision. Order and dataflow say little about where these belong; their
// readers say more.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

using namespace htp;
using namespace htp::alignment;

namespace {

/// The readers of a node, where they were placed.
struct Readers {
  /// The innermost frame that contains all readers, and the frame of the first
  /// one; -1 if there are none.
  Index common = -1, first = -1;
  /// `several`: they lie in more than one frame. `oneModule`: all of these
  /// frames are calls of one module.
  bool several = false, oneModule = true;
  /// `inOwn`: a reader lies in the node's own frame. `inCommon`: a reader lies
  /// directly in the common frame, not in a call below it.
  bool inOwn = false, inCommon = false;
  /// The step of each reader could have emitted the node.
  bool allEmit = true;
};

class ReaderRules {
public:
  ReaderRules(const Observations &observations, const States &states,
              const Frames &frames, const Emissions &emissions,
              const Reach &reach, llvm::ArrayRef<Index> placed,
              Alignment &result)
      : observations(observations), states(states), frames(frames),
        emissions(emissions), reach(reach), placed(placed), result(result),
        shape(emissions.findOp("Shape")), gather(emissions.findOp("Gather")),
        concat(emissions.findOp("Concat")), cast(emissions.findOp("Cast")) {
    findTaken();
  }

  void apply(Index n);

private:
  void move(Index n, Index frame);
  void findTaken();
  Readers readersOf(Index n) const;
  bool sizeMoves(Index n, const Readers &readers) const;
  bool isForReaders(Index n) const;
  bool ofArgument(Index n) const;
  Index shapeBefore(Index n) const;
  Index sightOf(Index n) const;
  Index target(Index n) const;
  bool isLost(Index n) const;
  Index outOfGap(Index n) const;
  bool isPrecisionCast(Index n) const;
  Index targetOfCast(Index n) const;
  Emits emits(Index state, Index n) const {
    return howEmits(emissions, states.list[state].kind, observations.list[n]);
  }
  bool isStray(Index n) const {
    return emits(placed[n], n) == Emits::Nothing &&
           !states.list[placed[n]].isGap;
  }
  bool besideItsStep(Index n) const;
  /// Whether nothing but its readers tells where the node ran: it is computed
  /// from constants, and the file has not kept the order of the program.
  bool floats(Index n) const {
    return !result.ownOrder && observations.list[n].floating;
  }
  Index firstThatTakes(Index n) const;
  Belief &belief(Index n) const {
    return result.nodes[observations.list[n].node].best;
  }
  Index frameOf(Index n) const {
    return frames.of(belief(n).module, belief(n).call);
  }

  const Observations &observations;
  const States &states;
  const Frames &frames;
  const Emissions &emissions;
  const Reach &reach;
  llvm::ArrayRef<Index> placed;
  Alignment &result;
  Index shape, gather, concat, cast;
  /// The sizes that the program takes in a step of its own, and what it
  /// computes from them.
  std::vector<bool> taken;
};

} // namespace

/// Marks the sizes that the program takes itself. A chain of size arithmetic
/// starts at the first size of a tensor; the whole chain counts if this first
/// one is the main node of a step. If that step stands at the start of the
/// program, before anything needed the size (State::unplaced), the chain counts
/// only from the first node on that is the main node of a step further on.
void ReaderRules::findTaken() {
  taken.resize(observations.size());
  std::vector<bool> ahead(observations.size());
  for (Index n = 0; n < observations.size(); ++n) {
    bool isFirst = true;
    for (Index p : observations.prev[n])
      if (observations.list[p].size) {
        isFirst = false;
        taken[n] = taken[n] || taken[p];
        ahead[n] = ahead[n] || ahead[p];
      }
    const bool isProgram = emits(placed[n], n) == Emits::Main;
    const bool unplaced = states.list[placed[n]].unplaced;
    if (isFirst)
      ahead[n] = isProgram && unplaced;
    if ((isFirst || ahead[n]) && !floats(n))
      taken[n] = taken[n] || (isProgram && !unplaced);
  }
}

Readers ReaderRules::readersOf(Index n) const {
  Readers readers;
  Index own = frameOf(n);
  for (Index m : observations.next[n]) {
    const Observation &reader = observations.list[m];
    if (reader.isOutput || reader.node == observations.list[n].node ||
        belief(m).module < 0)
      continue;
    Index frame = frameOf(m);
    readers.inOwn |= frame == own;
    readers.allEmit &= isKnown(emits(placed[m], n));
    if (readers.common < 0) {
      readers.common = readers.first = frame;
      readers.inCommon = true;
      continue;
    }
    readers.several |= frame != readers.common;
    readers.oneModule &= frames.module(frame) == frames.module(readers.first);
    Index both = frames.common(readers.common, frame);
    readers.inCommon =
        both == frame || (both == readers.common && readers.inCommon);
    readers.common = both;
  }
  return readers;
}

/// Whether a node has a neighbour that was placed in the same step.
bool ReaderRules::besideItsStep(Index n) const {
  auto isAt = [&](Index m) { return placed[m] == placed[n]; };
  return llvm::any_of(observations.prev[n], isAt) ||
         llvm::any_of(observations.next[n], isAt);
}

/// Whether a size was made for its reader, no matter where its operands come
/// from. That holds for one that is computed from constants alone, and for a
/// list of sizes: if two steps use the same list, exporters write it twice,
/// once for each step, although both copies may stand where the first one was
/// made. Only the sizes in the list belong to that place.
bool ReaderRules::isForReaders(Index n) const {
  const Observation &observation = observations.list[n];
  return observation.size && (observation.op == concat || floats(n) ||
                              observations.prev[n].empty());
}

/// The frame of the first reader in the program, if a step there makes such
/// nodes: one was kept for all calls that need it. -1 if there is none.
Index ReaderRules::firstThatTakes(Index n) const {
  Index first = -1;
  for (Index m : observations.next[n])
    if (!observations.list[m].isOutput && belief(m).module >= 0 &&
        (first < 0 || placed[m] < placed[first]))
      first = m;
  if (first < 0)
    return -1;
  const Index frame = frameOf(first);
  bool makes =
      llvm::any_of(states.ofModule[belief(first).module], [&](Index t) {
        return states.list[t].frame == frame && emits(t, n) == Emits::Main;
      });
  return makes ? frame : -1;
}

/// The Shape through which a node takes a size of a tensor (the node itself, or
/// the one whose result it gathers a dimension from); -1 if there is none.
Index ReaderRules::shapeBefore(Index n) const {
  if (observations.list[n].op == gather && observations.prev[n].size() == 1)
    n = observations.prev[n].front(); // one dimension of a shape
  return observations.list[n].op == shape && observations.prev[n].size() == 1
             ? n
             : -1;
}

/// Whether a node takes a size of an argument of the model.
bool ReaderRules::ofArgument(Index n) const {
  while (observations.list[n].size && observations.prev[n].size() == 1)
    n = observations.prev[n].front();
  return observations.list[n].isInput;
}

/// Whether a size moves to the common frame of its readers. A size that the
/// program never took was made for the modules that need it, from what comes
/// into them. For a size that the program took itself, the order knows more,
/// unless it put the size in a call next to those that read it.
bool ReaderRules::sizeMoves(Index n, const Readers &readers) const {
  Index own = frameOf(n);
  bool below = frames.inside(readers.common, own),
       above = frames.inside(own, readers.common);
  if (taken[n])
    return readers.several && !readers.inOwn && above;
  if (!readers.inOwn && shapeBefore(n) >= 0)
    return true;
  // If several calls need a size of an argument, it was not taken in one of
  // them for all.
  if (readers.several && above && observations.list[n].op != concat &&
      ofArgument(n))
    return true;
  return (below || above) && (!readers.inOwn || readers.inCommon);
}

/// The frame in which a tensor is visible whose size the node takes: the
/// innermost one that contains what makes the tensor and everything that reads
/// its contents. -1 if the node takes no size of a tensor, or if the frame is
/// not known.
Index ReaderRules::sightOf(Index n) const {
  n = shapeBefore(n);
  if (n < 0)
    return -1;
  Index made = observations.prev[n].front(), sight = -1;
  if (observations.list[made].isInput || observations.list[made].size ||
      belief(made).module < 0)
    return -1;
  for (Index m : observations.next[made]) {
    if (observations.list[m].isOutput)
      return -1;
    if (observations.list[m].op == shape || belief(m).module < 0)
      continue;
    sight = frames.common(sight < 0 ? frameOf(made) : sight, frameOf(m));
  }
  return sight;
}

/// Whether a node was placed in a call in which it has no neighbour, in a step
/// from which no way leads to its readers, while all of these are in another
/// call that is not inside of it.
bool ReaderRules::isLost(Index n) const {
  const Readers readers = readersOf(n);
  const Index own = frameOf(n);
  auto isBeside = [&](Index m) {
    return placed[m] == placed[n] ||
           (belief(m).module >= 0 && !observations.list[m].isInput &&
            !observations.list[m].isOutput && frameOf(m) == own);
  };
  return !states.list[placed[n]].isGap && readers.common >= 0 &&
         !readers.several && !frames.inside(readers.common, own) &&
         llvm::none_of(observations.prev[n], isBeside) &&
         llvm::none_of(observations.next[n], [&](Index m) {
           return observations.list[m].isOutput ||
                  reach(placed[n], placed[m]) > 0;
         });
}

/// The frame of a node that ran between two modules, if its readers lie outside
/// of the call that it was given to; -1 for other nodes.
Index ReaderRules::outOfGap(Index n) const {
  if (!states.list[placed[n]].isGap)
    return -1;
  const Index readers = readersOf(n).common, own = frameOf(n);
  return readers < 0 || frames.inside(readers, own)
             ? -1
             : frames.common(readers, own);
}

/// Whether a node only changes the precision of floats, which no step of the
/// program does.
bool ReaderRules::isPrecisionCast(Index n) const {
  const Observation &observation = observations.list[n];
  if (observation.op != cast || emits(placed[n], n) == Emits::Main)
    return false;
  const Graph &graph = observations.graph;
  const GraphNode &node = graph.nodes[observation.node];
  return !node.inputs.empty() && node.inputs[0] >= 0 &&
         graph.values[node.inputs[0]].kind == ElementKind::Float &&
         graph.values[node.outputs[0]].kind == ElementKind::Float;
}

/// The frame of a change of precision that a converter made. It widens what an
/// operator needs that runs in higher precision, and narrows what such an
/// operator made. -1 if neither end is known.
Index ReaderRules::targetOfCast(Index n) const {
  const Graph &graph = observations.graph;
  const GraphNode &node = graph.nodes[observations.list[n].node];
  const unsigned from = graph.values[node.inputs[0]].bits,
                 to = graph.values[node.outputs[0]].bits;
  llvm::ArrayRef<Index> makers = observations.prev[n];
  const bool isMade = makers.size() == 1 &&
                      !observations.list[makers.front()].isInput &&
                      belief(makers.front()).module >= 0;
  const Readers readers = readersOf(n);
  if (readers.common >= 0 && (!isMade || (from && from < to)))
    return readers.common;
  return isMade ? frameOf(makers.front()) : -1;
}

/// The frame in which the node belongs according to its readers; -1 if they do
/// not tell.
Index ReaderRules::target(Index n) const {
  const Observation &observation = observations.list[n];
  Readers readers = readersOf(n);
  if (readers.common < 0 || readers.common == frameOf(n))
    return -1;
  if (isForReaders(n) && !readers.inOwn && !readers.several)
    return readers.common;
  if (observation.size && floats(n) && !readers.inOwn)
    if (Index first = firstThatTakes(n); first >= 0)
      return first;
  if (readers.allEmit && !readers.inOwn && !besideItsStep(n))
    // Each reader's step emits such a node, and one was kept for all of them.
    return readers.oneModule ? readers.first : readers.common;
  bool below = readers.several && frames.inside(readers.common, frameOf(n));
  if ((observation.size && sizeMoves(n, readers)) ||
      (isStray(n) && (observation.integer || below)))
    return readers.common;
  return -1;
}

void ReaderRules::apply(Index n) {
  const Observation &observation = observations.list[n];
  if (isPrecisionCast(n)) {
    if (Index frame = targetOfCast(n); frame >= 0)
      move(n, frame);
    return;
  }
  if (isLost(n)) {
    move(n, readersOf(n).common);
    return;
  }
  if (Index frame = outOfGap(n); frame >= 0) {
    move(n, frame);
    return;
  }
  if (emits(placed[n], n) == Emits::Main && (!observation.size || taken[n]))
    return;
  Index frame = target(n);
  if (frame < 0 && taken[n])
    return;
  if (frame < 0)
    frame = frameOf(n);
  if (Index sight = sightOf(n); sight >= 0 && !frames.inside(frame, sight))
    frame = sight;
  move(n, frame);
}

void ReaderRules::move(Index n, Index frame) {
  if (frame == frameOf(n))
    return;
  Belief &best = belief(n);
  result.nodes[observations.list[n].node].second = best;
  best = {frames.module(frame), frames.call(frame), best.weight};
}

void alignment::moveToReaders(const Observations &observations,
                              const States &states, const Frames &frames,
                              const Emissions &emissions,
                              const Anchors &anchors, const Reach &reach,
                              llvm::ArrayRef<Index> placed, Alignment &result) {
  if (!frames.known())
    return;
  ReaderRules rules(observations, states, frames, emissions, reach, placed,
                    result);
  // Readers come before what they read, so that a chain moves together.
  for (Index n = observations.size(); n-- > 0;) {
    const Observation &observation = observations.list[n];
    if (!observation.isInput && !observation.isOutput && observation.names &&
        !anchors.has(n))
      rules.apply(n);
  }
}
