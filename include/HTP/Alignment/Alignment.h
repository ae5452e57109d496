// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the step of a program (a trace, or the same graph before an optimizer
// ran) that each node of a graph came from. Every node was emitted by one step.
// The node's kind, the parameters it reads, its neighbours and its position are
// evidence for some steps and against others. Beliefs are sparse (a few steps
// per node), so the cost is linear in the graph.

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
    /// Stands for several parameters that an exporter may have merged.
    bool joined = false;
    /// Can be recognised by a sketch.
    bool sketched = false;
  };
  struct Step {
    /// aten::linear; onnx::MatMul where the program is a graph.
    llvm::StringRef kind;
    /// The node's name if the program is a graph; empty in a trace.
    llvm::StringRef name;
    /// The module that the step belongs to: an index with meaning only to the
    /// caller.
    int32_t module = 0;
    int32_t call = 0;
    llvm::SmallVector<int32_t, 4> inputs;
    llvm::SmallVector<int32_t, 2> outputs;
    llvm::SmallVector<int32_t, 2> parameters;
    /// A hash of its constant arguments.
    uint64_t constants = 0;
    /// The step's position does not say which module needs it: torch.export
    /// takes all sizes of inputs at the start of the program.
    bool unplaced = false;
  };
  std::vector<Value> values;
  std::vector<Parameter> parameters;
  std::vector<Step> steps;
  std::vector<int32_t> inputs, outputs;
  /// Values and nodes with equal names in program and graph are the same. Not
  /// for traces, as exporters renumber values.
  bool sameNames = false;
};

/// Reasons to doubt an answer.
struct RedFlags {
  /// A producer or consumer was placed where the program has no such edge.
  bool edge = false;
  /// Dataflow alone, without order, puts the node in another module.
  bool order = false;
  /// The step's kind is not known to emit such a node.
  bool kind = false;
  /// The belief is spread over several steps.
  bool spread = false;
};

/// A module that a node may belong to, and its share of the belief.
struct Belief {
  int32_t module = -1;
  int32_t call = 0;
  float weight = 0;
};

struct AlignedNode {
  /// The step, or -1 if the node could not be placed.
  int32_t step = -1;
  Belief best;
  /// The second-best module, if its weight is not negligible.
  Belief second;
  /// The batch norm that became part of this node, if one did.
  Belief absorbed;
  /// It was tied to the step, or to a few steps, from the start: it reads a
  /// parameter that the step reads, has the step's name or that of its value,
  /// or its module was known.
  bool anchored = false;
  RedFlags flags;
};

/// A step that a node may have come from, with the evidence for it. All fields
/// except the beliefs are log-likelihoods, which are comparable between
/// candidates of one node.
struct CandidateStep {
  /// The step; -1 for a gap between two steps, and for an argument or result of
  /// the model.
  int32_t step = -1;
  int32_t module = 0, call = 0;
  /// How well a step of this kind, with its shapes, explains such a node.
  float kind = 0;
  /// How well the places of its producers and consumers fit.
  float dataflow = 0;
  /// How well its position among the other nodes fits.
  float order = 0;
  /// Its share of the belief: final, and by dataflow alone.
  float belief = 0, freely = 0;
};

/// Why a node was placed where it was.
struct Explanation {
  int32_t node = -1;
  /// Best first; candidates without any evidence are left out.
  std::vector<CandidateStep> candidates;
};

struct Alignment {
  /// One for each node of the graph.
  std::vector<AlignedNode> nodes;
  /// Explanations of the requested nodes.
  std::vector<Explanation> explanations;
  /// The number of parameters of the program that can be recognised, and how
  /// many of them were found in the graph; few for a trace of another model.
  unsigned parameters = 0, parametersFound = 0;
  /// Mean log-likelihood of a node: how well the program explains the graph.
  double fit = 0;
  /// Whether the graph's own order was kept.
  bool ownOrder = true;
};

/// A module's parent in the tree, by index; -1 for the root.
struct ModulePlace {
  int32_t parent = -1;
  /// How often it ran; 0 for a pure container.
  int32_t calls = 1;
};

struct AlignmentOptions {
  AlignmentParameters parameters;
  /// The nodes to explain.
  llvm::SmallVector<int32_t> explain;
};

/// `modules` has an entry for each module index, or is empty if there is no
/// module tree.
Alignment align(const Graph &graph, const Program &program,
                llvm::ArrayRef<ModulePlace> modules = {},
                const AlignmentOptions &options = {});

} // namespace htp

#endif // HTP_ALIGNMENT_ALIGNMENT_H
