// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data structures that the files of the alignment share: the states (steps
// of the program), the observations (nodes of the graph), the candidates that
// link them, and the two sources of evidence that are weighed against each
// other, dataflow and order.

#ifndef HTP_LIB_ALIGNMENT_MODEL_H
#define HTP_LIB_ALIGNMENT_MODEL_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Alignment/Emission.h"

#include "llvm/ADT/DenseMap.h"

#include <array>

namespace htp::alignment {

using Index = int32_t;

/// An array of plain data whose final size is not known in advance. It grows by
/// realloc, which can move pages; std::vector would copy everything to freshly
/// allocated pages each time. In a large model, that copying would take most of
/// the time and memory.
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
  /// -1 if no node has this op.
  Index findOp(llvm::StringRef name) const {
    auto found = ops.find(name);
    return found == ops.end() ? -1 : found->second;
  }
  /// Fills the matrix. Call it once all kinds and ops are known.
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
  /// The step in the program; for an argument or result its number, for a gap
  /// -1.
  Index step = -1;
  Index module = 0, call = 0;
  /// The frame of the module call that it ran in; -1 without a module tree.
  Index frame = -1;
  /// The number of the shape of its first result that has one; 0: not known.
  Index shape = 0;
  bool isInput = false, isOutput = false;
  /// A gap: execution passes from one module to another here. Steps of the
  /// module that contains both may have run in between and been folded away
  /// when the program was traced.
  bool isGap = false;
  /// Other steps compute the same value, and an exporter may have kept one node
  /// for all of them.
  bool repeated = false;
  /// `module` is only where the step stands in the program, not the module that
  /// needs it (see Program::Step).
  bool unplaced = false;
};

/// The tree of module calls. Two calls of a shared module are two frames, as
/// distinct as the frames of two modules. Modules that only contain others, and
/// never run themselves, have no frame.
class Frames {
public:
  Frames(const Program &program, llvm::ArrayRef<ModulePlace> modules);

  bool known() const { return !list.empty(); }
  /// The frame of a call. A number beyond the last known call means the last
  /// one.
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
  /// For each state, the states that feed it (`prev`) and those that it feeds
  /// (`next`), sorted.
  Rows<Index> prev, next;
  /// For each parameter of the program, the states that read it.
  Rows<Index> readers;
  /// The states of each kind, and of each module, sorted.
  Rows<Index> ofKind, ofModule;

  Index size() const { return list.size(); }
  /// The number of a shape; equal shapes have equal numbers.
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

/// One node, or one op of a fused node, or one argument or result of the graph.
struct Observation {
  /// The node in the graph; for an argument or result, its number.
  Index node = -1;
  Index op = -1;
  bool isInput = false, isOutput = false;
  bool integer = false;
  /// It takes part in size arithmetic only (see markSizes).
  bool size = false;
  /// It is computed from constants alone. Nothing but its readers holds such a
  /// node in its place in a file, and tools that sort nodes move it freely.
  bool floating = false;
  /// It decides which module the node belongs to. False for a batch norm that
  /// was folded into the node.
  bool names = true;
  /// A reshape of the result of a Gemm. The op GemmReshape also stands for
  /// reshapes of a Gemm's operand; these do not have this flag.
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

/// Whether the table lists the op for the kind. `Perhaps` only means that the
/// kind is not in the table.
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
  void markFloating();
};

//===----------------------------------------------------------------------===//
// Candidates: what each observation may have come from
//===----------------------------------------------------------------------===//

struct Candidate {
  Index state;
  /// Log-likelihood as the main op of the state's kind, and as a part.
  float main, part;
};

/// For each anchored observation, the states (sorted) of which it must be one:
/// those that read the same parameter, have its name, or lie in its known
/// module. Other observations have none.
struct Anchors {
  Rows<Index> states;
  /// Per state, whether a node is anchored in it. A node of which only the call
  /// is known may be of any step of the call, and takes none of them.
  std::vector<bool> taken;
  /// How many parameters of the program can be recognised by their contents
  /// (`known`), and how many of these the graph has (`found`).
  unsigned found = 0, known = 0;

  bool has(Index n) const { return !states[n].empty(); }
};

Anchors findAnchors(const Observations &observations, const States &states,
                    const Emissions &emissions,
                    const AlignmentParameters &parameters);

struct Candidates : Rows<Candidate> {
  /// For a node that is computed from sizes alone, so that nothing tells when
  /// it ran: the frame that contains everything that reads it. -1 for other
  /// nodes.
  std::vector<Index> homes;
};

Candidates findCandidates(const Observations &observations,
                          const States &states, const Frames &frames,
                          const Emissions &emissions, const Anchors &anchors,
                          const AlignmentParameters &parameters);

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

/// For each candidate, how likely the observation is in that state.
using Posterior = std::vector<float>;

/// How likely it is that a value goes directly from a node of one state to a
/// node of another.
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

/// Dataflow evidence, as a logarithm, for each candidate: how well it fits
/// where the producers and consumers of the node are believed to be.
class Dataflow {
public:
  Dataflow(const Observations &observations, const States &states,
           const Rows<Candidate> &candidates, const Reach &reach,
           const AlignmentParameters &parameters);

  /// Weighs the nodes that have a neighbour whose belief has changed since the
  /// last call. Returns whether any belief has changed.
  bool weigh(const Posterior &posterior);
  /// Call this after candidates were dropped together with their evidence.
  void restart();

  /// All 0 for a node with one candidate, which needs none.
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
  /// Per state; a copy, because `State` is too large to be loaded for each
  /// candidate.
  std::vector<char> isGap;
  /// Per state: its position among the candidates of the node that is being
  /// weighed, or -1.
  std::vector<Index> slots;
  /// The beliefs that the evidence was computed from, and the nodes whose
  /// beliefs have changed since.
  std::vector<float> told;
  std::vector<bool> changed;
  // Buffers for one node, kept for the next one. `sum` is all 0 between two
  // neighbours.
  std::vector<float> sum, total;
};

/// The cost of moving backwards in the program: a fixed cost, and a cost for
/// each step of the distance.
struct BackCost {
  float once, each;
};

/// What it costs to skip each state, or to stay in it.
struct OrderCosts {
  OrderCosts(const States &states, const Emissions &emissions,
             const Anchors &anchors, const AlignmentParameters &parameters);

  /// skipped[t]: the cost of skipping all states before t.
  std::vector<double> skipped;
  /// The likelihood that the state leaves no main node (`skip`), and that it
  /// emits another node after one (`stay`).
  std::vector<float> skip, stay;
  /// Whether the state can have several main nodes.
  std::vector<bool> many;
};

/// A left-to-right hidden Markov model over the states.
class OrderModel {
public:
  OrderModel(const Rows<Candidate> &candidates, const OrderCosts &costs)
      : candidates(candidates), costs(costs) {}

  /// The forward pass over the observations, in the given order. `order` must
  /// stay valid until `backward` has run. Returns the log-likelihood of all
  /// observations.
  double forward(llvm::ArrayRef<Index> order, llvm::ArrayRef<float> evidence,
                 BackCost back);
  /// The backward pass over the same order: how likely each node is in each of
  /// its states, given all other nodes.
  void backward(Posterior &posterior);

private:
  /// Each candidate has two phases: before its main node was emitted, and
  /// after.
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
  std::array<double, 64> nearBack; // backCost of small distances
  /// Per candidate: the likelihood of the node itself, and that of all nodes up
  /// to this one.
  std::vector<Emitted> emitted;
  std::vector<Phases> reached;
  // Buffers for one node, kept for the next one. `here` is the backward
  // likelihood of this node, `ahead` that of the node after it.
  std::vector<double> leave, arrive;
  std::vector<Phases> ahead, here;
};

/// The order of the file, but with each floating node right before the first
/// node that waits for it.
std::vector<Index> orderFloatingLast(const Observations &observations);

/// A topological order that follows the states in which nodes are placed. If a
/// node is not `known` to be in its state, its readers say when it ran.
std::vector<Index> orderByPlace(const Observations &observations,
                                std::vector<Index> placed,
                                const std::vector<bool> &known);

/// Corrects the answers for reshapes that an optimizer put around products.
void giveWrapsToProducts(const Observations &observations, const States &states,
                         const Frames &frames, const Emissions &emissions,
                         llvm::ArrayRef<Index> placed, Alignment &result);

/// Corrects the answers for nodes whose readers say more about where they
/// belong than order and dataflow do.
void moveToReaders(const Observations &observations, const States &states,
                   const Frames &frames, const Emissions &emissions,
                   const Anchors &anchors, const Reach &reach,
                   llvm::ArrayRef<Index> placed, Alignment &result);

} // namespace htp::alignment

#endif // HTP_LIB_ALIGNMENT_MODEL_H
