// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the alignment, private to it: the states (steps of the
// program), the observations (nodes of the graph), the candidates that link
// them, and the two sources of evidence that are weighed against each other,
// dataflow and order.

#ifndef HTP_LIB_ALIGNMENT_MODEL_H
#define HTP_LIB_ALIGNMENT_MODEL_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Alignment/Emission.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

namespace htp::alignment {

using Index = int32_t;

/// Plain data whose size shows only as it is made. It grows by realloc, which
/// moves pages; std::vector would copy, onto pages that are new each time. Of a
/// large model that is most of what time and memory go into.
template <typename T> using Column = llvm::SmallVector<T, 0>;

/// Rows of different lengths in one array.
template <typename T> struct Rows {
  Column<T> items;
  Column<unsigned> begins = {0};

  size_t size() const { return begins.size() - 1; }
  llvm::ArrayRef<T> operator[](size_t row) const {
    return llvm::ArrayRef<T>(items).slice(begins[row],
                                          begins[row + 1] - begins[row]);
  }
  llvm::MutableArrayRef<T> row(size_t row) {
    return llvm::MutableArrayRef<T>(items).slice(begins[row],
                                                 begins[row + 1] - begins[row]);
  }
  void push(const T &item) { items.push_back(item); }
  void close() { begins.push_back(items.size()); }
};

//===----------------------------------------------------------------------===//
// Emission of this model's kinds and ops
//===----------------------------------------------------------------------===//

/// The emission table for the kinds and ops that occur, as a matrix.
class Emissions {
public:
  Index kind(llvm::StringRef name);
  Index op(llvm::StringRef name);
  /// -1 where no node has this op.
  Index findOp(llvm::StringRef name) const {
    auto found = ops.find(name);
    return found == ops.end() ? -1 : found->second;
  }
  /// Fills the matrix; call when all kinds and ops are known.
  void close();

  Emits operator()(Index kind, Index op) const {
    return matrix[kind * numOps + op];
  }
  const EmissionRule &rule(Index kind) const { return rules[kind]; }
  /// Whether any node of the graph can be the kind's main op.
  bool shows(Index kind) const { return shown[kind]; }
  /// The kinds that `op` can come from, as main op or part.
  llvm::ArrayRef<Index> kindsOf(Index op) const { return sources[op]; }
  Index numKinds() const { return rules.size(); }

private:
  llvm::StringMap<Index> kinds, ops;
  std::vector<EmissionRule> rules;
  std::vector<std::string> opNames;
  std::vector<Emits> matrix;
  std::vector<bool> shown;
  Rows<Index> sources;
  Index numOps = 0;
};

//===----------------------------------------------------------------------===//
// States: the steps of the program
//===----------------------------------------------------------------------===//

struct State {
  /// -1 for the pseudo-steps: arguments, results and gaps.
  Index kind = -1;
  /// The step in the program; for a pseudo-step the number of the argument.
  Index step = -1;
  Index module = 0, call = 0;
  /// Its call of its module; -1 where the modules have no tree.
  Index frame = -1;
  /// A number for the shape of its first result; 0: not known.
  Index shape = 0;
  bool isInput = false, isOutput = false;
  /// Where the program passes from one module to another: what ran in the
  /// module that holds both may have been folded away when it was traced.
  bool isGap = false;
  /// Other steps compute the same: an exporter may have kept one for all.
  bool repeated = false;
  /// The module is where the step stands, not whom it is for.
  bool unplaced = false;
};

/// The calls of the modules as a tree: two calls of a shared module are as
/// much apart as two modules are. Modules that only hold others are left out.
class Frames {
public:
  Frames(const Program &program, llvm::ArrayRef<ModulePlace> modules);

  bool known() const { return !list.empty(); }
  /// A call beyond the last one that is known is taken for that one.
  Index of(Index module, Index call) const;
  Index module(Index frame) const { return list[frame].module; }
  Index call(Index frame) const { return frame - firsts[module(frame)]; }
  Index common(Index a, Index b) const;
  /// Whether `frame` is `ancestor` or lies in it.
  bool inside(Index frame, Index ancestor) const;
  /// The child of `ancestor` that `frame`, below it, lies in.
  Index childTowards(Index ancestor, Index frame) const;

private:
  struct Frame {
    Index module, parent, depth;
  };
  std::vector<Frame> list;
  /// The first call of each module, and how many it has.
  std::vector<Index> firsts, counts;
};

class States {
public:
  States(const Program &program, const Frames &frames, Emissions &emissions);

  const Program &program;
  Column<State> list;
  /// The states that make what a state reads, sorted.
  Rows<Index> prev, next;
  /// For each parameter of the program the states that read it.
  Rows<Index> readers;
  /// The states of each kind, and of each module, sorted.
  Rows<Index> ofKind, ofModule;

  Index size() const { return list.size(); }
  /// A number for a shape; the same for equal shapes.
  Index shapeNumber(llvm::ArrayRef<int64_t> shape);
  Index findShape(llvm::ArrayRef<int64_t> shape) const;

private:
  void addGap(const Frames &frames, Index next);
  void link();
  llvm::DenseMap<uint64_t, Index> shapes;
};

//===----------------------------------------------------------------------===//
// Observations: the nodes of the graph
//===----------------------------------------------------------------------===//

/// A node, or one op of a fused node, or an argument or result of the graph.
struct Observation {
  /// The node in the graph; for a pseudo-node the number of the argument.
  Index node = -1;
  Index op = -1;
  bool isInput = false, isOutput = false;
  bool integer = false;
  /// It only says how large something is to be.
  bool size = false;
  /// It says which module the node belongs to.
  bool names = true;
  /// Next to a Gemm, before it or after it.
  bool wrapsResult = false;
};

/// How `kind` emits the observation, if it does.
inline Emits howEmits(const Emissions &emissions, Index kind,
                      const Observation &observation) {
  if (kind < 0 || observation.op < 0)
    return Emits::Nothing;
  Emits emits = emissions(kind, observation.op);
  bool counts = emits == Emits::Sizes ? observation.size
                : emits == Emits::Indices
                    ? observation.size || observation.integer
                    : true;
  return counts ? emits : Emits::Nothing;
}

/// Whether the table knows that `emits` is so.
inline bool isKnown(Emits emits) {
  return emits != Emits::Nothing && emits != Emits::Perhaps;
}

class Observations {
public:
  Observations(const Graph &graph, const States &states, Emissions &emissions,
               const AlignmentParameters &parameters);

  const Graph &graph;
  Column<Observation> list;
  Rows<Index> prev, next;

  Index size() const { return list.size(); }

private:
  void markSizes();
};

//===----------------------------------------------------------------------===//
// Candidates: what each observation may have come from
//===----------------------------------------------------------------------===//

struct Candidate {
  Index state;
  /// Log-likelihood as the main op of the state's kind, and as a part.
  float main, part;
};

/// For each observation the states that it must be one of (sorted): those
/// that read the same parameter, bear its name, or lie in its known module.
struct Anchors {
  Rows<Index> states;
  /// Parameters of the program found in the graph.
  unsigned found = 0, known = 0;

  bool has(Index n) const { return !states[n].empty(); }
};

Anchors findAnchors(const Observations &observations, const States &states,
                    const Emissions &emissions,
                    const AlignmentParameters &parameters);

struct Candidates : Rows<Candidate> {
  /// For a node that is made of nothing but sizes, where it is not known when
  /// it ran: the frame that everything that reads it lies in. Otherwise -1.
  std::vector<Index> homes;
};

Candidates findCandidates(const Observations &observations,
                          const States &states, const Frames &frames,
                          const Emissions &emissions, const Anchors &anchors,
                          const AlignmentParameters &parameters);

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

/// Per candidate: how likely the observation is in that state.
using Posterior = std::vector<float>;

/// How likely a value goes from the nodes of one state straight to those of
/// another.
class Reach {
public:
  Reach(const States &states, const Emissions &emissions,
        const AlignmentParameters &parameters);

  struct Entry {
    Index state;
    float weight;
  };
  Rows<Entry> forward, backward;
  /// Weight of the way from `from` to `to`; 0 where there is none.
  float operator()(Index from, Index to) const {
    return find(forward[from], to);
  }
  static float find(llvm::ArrayRef<Entry> row, Index to);
};

/// Dataflow evidence (log) for each candidate: where the producers and the
/// consumers of each node are believed to be.
class Dataflow {
public:
  Dataflow(const Observations &observations, const States &states,
           const Rows<Candidate> &candidates, const Reach &reach,
           const AlignmentParameters &parameters);

  /// Weighs all nodes whose neighbours are believed to be elsewhere than at
  /// the last call; returns whether there are any.
  bool weigh(const Posterior &posterior);
  /// To be called when the candidates have become fewer, evidence included.
  void restart();

  /// All 0 for a node with one candidate.
  std::vector<float> evidence;

private:
  bool tell(const Posterior &posterior);
  void weigh(Index n);
  void collect(Index n, llvm::ArrayRef<Index> neighbours,
               const Rows<Reach::Entry> &ways, float weight, bool anyOne);
  float sumWays(Index other, llvm::ArrayRef<Candidate> own,
                const Rows<Reach::Entry> &ways);
  llvm::MutableArrayRef<float> evidenceOf(Index n) {
    return llvm::MutableArrayRef(evidence).slice(candidates.begins[n],
                                                 candidates[n].size());
  }

  const Observations &observations;
  const Rows<Candidate> &candidates;
  const Reach &reach;
  const AlignmentParameters &parameters;
  /// Per state: `State` is too large to be looked at for each candidate.
  std::vector<char> isGap;
  /// Per state: which candidate it is of the node that is weighed, or -1.
  std::vector<Index> slots;
  /// The beliefs that the evidence rests on, and the nodes whose are new.
  std::vector<float> told;
  std::vector<bool> changed;
  // Of one node, kept for the next; `sum` is all 0 between two neighbours.
  std::vector<float> sum, total;
};

/// What a step backwards in the program costs: once, and per step.
struct BackCost {
  float once, each;
};

/// The cost of each way through the states, per state.
struct OrderCosts {
  OrderCosts(const States &states, const Emissions &emissions,
             const Anchors &anchors, const AlignmentParameters &parameters);

  /// skipped[t]: the cost of skipping all states before t.
  std::vector<double> skipped;
  /// The likelihood of no main node, and of another node after one.
  std::vector<float> skip, stay;
  std::vector<bool> many;
};

/// A left-to-right hidden Markov model over the states.
class OrderModel {
public:
  OrderModel(const Rows<Candidate> &candidates, const OrderCosts &costs)
      : candidates(candidates), costs(costs) {}

  /// Goes through the observations in the given order, which must outlive the
  /// way back. Returns the log-likelihood of the whole.
  double forward(llvm::ArrayRef<Index> order, llvm::ArrayRef<float> evidence,
                 BackCost back);
  /// Goes the same way back: what each node is, given all others.
  void backward(Posterior &posterior);

private:
  /// Two phases of each candidate: before its main node came, and after.
  struct Phases {
    double before = 0, after = 0;
  };
  struct Emitted {
    double main, part;
  };
  double emit(Index n, llvm::ArrayRef<float> evidence);
  void start(Index n);
  void enter(Index last, Index n);
  double arriveAt(Index n, Index last);
  void finish(Index n);
  void reachBack(Index n, Index later);
  void leaveFrom(Index n, Index later);
  void believe(Index n, llvm::MutableArrayRef<float> posterior);
  double aheadCost(Index from, Index to) const; // from < to
  double backCost(Index distance) const;

  const Rows<Candidate> &candidates;
  const OrderCosts &costs;
  llvm::ArrayRef<Index> order;
  BackCost back = {0, 0};
  double backOnce = 0;
  std::array<double, 64> nearBack; // by distance
  /// Per candidate: its likelihood, and that of all before it.
  std::vector<Emitted> emitted;
  std::vector<Phases> reached;
  // Of one node, kept for the next.
  std::vector<double> leave, arrive;
  std::vector<Phases> ahead, here;
};

/// Corrects answers where what reads a node says more than where it was placed.
void moveToReaders(const Observations &observations, const States &states,
                   const Frames &frames, const Emissions &emissions,
                   const Anchors &anchors, llvm::ArrayRef<Index> placed,
                   Alignment &result);

} // namespace htp::alignment

#endif // HTP_LIB_ALIGNMENT_MODEL_H
