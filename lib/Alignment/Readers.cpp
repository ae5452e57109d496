// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last word on what a step emits besides its main op: sizes, and nodes
// that an optimizer kept once for several steps. Order and dataflow say little
// about where these belong; what reads them says more.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

using namespace htp;
using namespace htp::alignment;

namespace {

/// What reads a node, as far as it was placed.
struct Readers {
  /// The frame that all of them lie in, and that of the first; -1: there are
  /// none.
  Index common = -1, first = -1;
  /// They lie in several frames, though perhaps all in calls of one module.
  bool several = false, oneModule = true;
  /// One of them lies in the node's own frame, one right in the common frame.
  bool inOwn = false, inCommon = false;
  /// The step of each could have emitted the node.
  bool allEmit = true;
};

class ReaderRules {
public:
  ReaderRules(const Observations &observations, const States &states,
              const Frames &frames, const Emissions &emissions,
              llvm::ArrayRef<Index> placed, Alignment &result)
      : observations(observations), states(states), frames(frames),
        emissions(emissions), placed(placed), result(result),
        shape(emissions.findOp("Shape")), gather(emissions.findOp("Gather")),
        concat(emissions.findOp("Concat")) {
    findTaken();
  }

  void apply(Index n);

private:
  void findTaken();
  Readers readersOf(Index n) const;
  bool sizeMoves(Index n, const Readers &readers) const;
  bool isForReaders(Index n) const;
  bool ofArgument(Index n) const;
  Index shapeBefore(Index n) const;
  Index sightOf(Index n) const;
  Index target(Index n) const;
  Emits emits(Index state, Index n) const {
    return howEmits(emissions, states.list[state].kind, observations.list[n]);
  }
  bool isStray(Index n) const {
    return emits(placed[n], n) == Emits::Nothing &&
           !states.list[placed[n]].isGap;
  }
  bool besideItsStep(Index n) const;
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
  llvm::ArrayRef<Index> placed;
  Alignment &result;
  Index shape, gather, concat;
  /// Sizes that the program took as well, and what it made of them.
  std::vector<bool> taken;
};

} // namespace

/// A size comes from the program's own where the first of its chain does. Where
/// the program took that one before anybody had asked for it, it is what the
/// program made of it in a module that is its own.
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
    if (isFirst || ahead[n])
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

/// Whether a node that was emitted beside the main op of its step is next to
/// any other node of that step.
bool ReaderRules::besideItsStep(Index n) const {
  auto isAt = [&](Index m) { return placed[m] == placed[n]; };
  return llvm::any_of(observations.prev[n], isAt) ||
         llvm::any_of(observations.next[n], isAt);
}

/// Whether a size was made for what reads it, wherever what it is made of comes
/// from: it is made of constants alone, or it is a list. An exporter that meets
/// one list of sizes in two steps writes it twice, where it was made first, and
/// each time for the step that reads it; only the sizes in it belong there.
bool ReaderRules::isForReaders(Index n) const {
  const Observation &observation = observations.list[n];
  return observation.size &&
         (observation.op == concat || observations.prev[n].empty());
}

/// The node that reads the tensor whose size a node takes, or -1.
Index ReaderRules::shapeBefore(Index n) const {
  if (observations.list[n].op == gather && observations.prev[n].size() == 1)
    n = observations.prev[n].front(); // one dimension of a shape
  return observations.list[n].op == shape && observations.prev[n].size() == 1
             ? n
             : -1;
}

/// Whether a node is a size of an argument of the model.
bool ReaderRules::ofArgument(Index n) const {
  while (observations.list[n].size && observations.prev[n].size() == 1)
    n = observations.prev[n].front();
  return observations.list[n].isInput;
}

/// A size that the program never took was made for those that need it: it is
/// taken of what comes into them. Of one that it took the order knows more,
/// unless that put it beside its readers.
bool ReaderRules::sizeMoves(Index n, const Readers &readers) const {
  Index own = frameOf(n);
  bool below = frames.inside(readers.common, own),
       above = frames.inside(own, readers.common);
  if (taken[n])
    return readers.several && !readers.inOwn && above;
  if (!readers.inOwn && shapeBefore(n) >= 0)
    return true;
  // One of several that need a size of an argument did not take it for all.
  if (readers.several && above && observations.list[n].op != concat &&
      ofArgument(n))
    return true;
  return (below || above) && (!readers.inOwn || readers.inCommon);
}

/// The frame in which the tensor is known whose size a node takes: it holds
/// what makes the tensor and all that reads its contents. -1: takes no size.
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

/// Where the readers say that the node belongs; -1 where they do not.
Index ReaderRules::target(Index n) const {
  const Observation &observation = observations.list[n];
  Readers readers = readersOf(n);
  if (readers.common < 0 || readers.common == frameOf(n))
    return -1;
  if (isForReaders(n) && !readers.inOwn && !readers.several)
    return readers.common;
  if (readers.allEmit && !readers.inOwn && !besideItsStep(n))
    // Each reader's step emits such a node: one was kept for all.
    return readers.oneModule ? readers.first : readers.common;
  bool below = readers.several && frames.inside(readers.common, frameOf(n));
  if ((observation.size && sizeMoves(n, readers)) ||
      (isStray(n) && (observation.integer || below)))
    return readers.common;
  return -1;
}

void ReaderRules::apply(Index n) {
  const Observation &observation = observations.list[n];
  if (emits(placed[n], n) == Emits::Main && (!observation.size || taken[n]))
    return;
  Index frame = target(n);
  if (frame < 0 && taken[n])
    return;
  if (frame < 0)
    frame = frameOf(n);
  if (Index sight = sightOf(n); sight >= 0 && !frames.inside(frame, sight))
    frame = sight;
  if (frame == frameOf(n))
    return;
  Belief &best = belief(n);
  result.nodes[observation.node].second = best;
  best = {frames.module(frame), frames.call(frame), best.weight};
}

void alignment::moveToReaders(const Observations &observations,
                              const States &states, const Frames &frames,
                              const Emissions &emissions,
                              const Anchors &anchors,
                              llvm::ArrayRef<Index> placed, Alignment &result) {
  if (!frames.known())
    return;
  ReaderRules rules(observations, states, frames, emissions, placed, result);
  // Readers first: a chain moves together.
  for (Index n = observations.size(); n-- > 0;) {
    const Observation &observation = observations.list[n];
    if (!observation.isInput && !observation.isOutput && observation.names &&
        !anchors.has(n))
      rules.apply(n);
  }
}
