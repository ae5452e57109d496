// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which step of a program that ran (a trace, or the same graph before an
// optimizer) each node of a graph came from. Every node was emitted by one
// step: a node's kind, the parameters it reads, its neighbours and its place
// in the order all speak for some steps and against others. The belief is
// sparse (a few steps a node), so that the cost grows with the graph only.

#ifndef HTP_ALIGNMENT_ALIGNMENT_H
#define HTP_ALIGNMENT_ALIGNMENT_H

#include "HTP/Alignment/Graph.h"
#include "HTP/Alignment/Parameters.h"

#include <string>

namespace htp {

/// What a graph is aligned with: steps in the order in which they ran.
struct Program {
  struct Value {
    llvm::StringRef name;
    bool hasShape = false;
    llvm::SmallVector<int64_t, 4> shape;
  };
  struct Parameter {
    llvm::StringRef path;
    TensorContent content;
    /// Stands for several parameters that an exporter may have made one of.
    bool joined = false;
    /// Can be recognised by a sketch.
    bool sketched = false;
  };
  struct Step {
    /// aten::linear; onnx::MatMul where the program is a graph.
    llvm::StringRef kind;
    /// Of a graph's node; empty in a trace.
    llvm::StringRef name;
    /// Whom the step belongs to: an index that only the caller understands.
    int32_t module = 0;
    int32_t call = 0;
    llvm::SmallVector<int32_t, 4> inputs;
    llvm::SmallVector<int32_t, 2> outputs;
    llvm::SmallVector<int32_t, 2> parameters;
    /// A hash of its constant arguments.
    uint64_t constants = 0;
    /// Where it stands says nothing of whom it is for: a program that takes all
    /// sizes of its inputs before it begins, whoever wants them.
    bool unplaced = false;
  };
  std::vector<Value> values;
  std::vector<Parameter> parameters;
  std::vector<Step> steps;
  std::vector<int32_t> inputs, outputs;
  /// Values and nodes that have the same name in the graph are the same. Not
  /// so for a trace: exporters number values anew.
  bool sameNames = false;
};

/// What speaks against an answer.
struct RedFlags {
  /// A producer or consumer was placed where the program has no such edge.
  bool edge = false;
  /// Dataflow alone, without order, puts the node elsewhere.
  bool order = false;
  /// The step's kind is not known to emit such a node.
  bool kind = false;
  /// The belief is spread.
  bool spread = false;
};

/// One module that a node may belong to, and how much of the belief it has.
struct Belief {
  int32_t module = -1;
  int32_t call = 0;
  float weight = 0;
};

struct AlignedNode {
  /// The step, or -1 where the node could not be placed at all.
  int32_t step = -1;
  Belief best;
  /// The runner-up, if it has any weight worth naming.
  Belief second;
  /// The batch norm that became part of this node, if one did.
  Belief absorbed;
  /// It reads a parameter that the step reads, or bears its value's name.
  bool anchored = false;
  RedFlags flags;
};

/// One step that a node may have come from, and what speaks for it. All but
/// the beliefs are logarithms of likelihoods, to be compared with those of
/// another candidate of the same node.
struct CandidateStep {
  /// The step, or -1 for what runs between two steps, or an argument.
  int32_t step = -1;
  int32_t module = 0, call = 0;
  /// How well a step of this kind, with its shapes, explains such a node.
  float kind = 0;
  /// How well the places of its producers and consumers fit.
  float dataflow = 0;
  /// How well its place among the other nodes fits.
  float order = 0;
  /// How much of the belief it has, in the end and by dataflow alone.
  float belief = 0, freely = 0;
};

/// Why a node was placed where it was.
struct Explanation {
  int32_t node = -1;
  /// The best first; those that nothing speaks for are left out.
  std::vector<CandidateStep> candidates;
};

struct Alignment {
  /// One for each node of the graph.
  std::vector<AlignedNode> nodes;
  /// Of the nodes that were asked about.
  std::vector<Explanation> explanations;
  /// Parameters of the program, and how many of them the graph holds. A trace
  /// of another model shows here.
  unsigned parameters = 0, parametersFound = 0;
  /// Mean log-likelihood of a node: how well the program explains the graph.
  double fit = 0;
  /// Whether the graph's own order was kept.
  bool ownOrder = true;
};

/// A module's place in the tree, by index: -1 is above the root.
struct ModulePlace {
  int32_t parent = -1;
  /// How often it ran; 0 for one that only holds others.
  int32_t calls = 1;
};

struct AlignmentOptions {
  AlignmentParameters parameters;
  /// The nodes that are explained.
  llvm::SmallVector<int32_t> explain;
};

/// `modules` has an entry for each module index, or none where the modules
/// have no tree.
Alignment align(const Graph &graph, const Program &program,
                llvm::ArrayRef<ModulePlace> modules = {},
                const AlignmentOptions &options = {});

} // namespace htp

#endif // HTP_ALIGNMENT_ALIGNMENT_H
