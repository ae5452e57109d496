// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the numbers of an alignment into sentences. Differences of
// log-likelihoods are shown as factors: people read "20 times less likely", not
// "3 nats".

#include "DescribePlace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace htp;
using llvm::raw_ostream;
using llvm::StringRef;

/// How many candidates are shown, and the smallest difference that is
/// mentioned.
static constexpr size_t kMostShown = 4;
static constexpr float kWorthSaying = 0.7f; // in nats: a factor of 2

namespace {
class PlaceDescription {
public:
  PlaceDescription(const Graph &graph, const Program &program,
                   const ModuleTree &tree, raw_ostream &os)
      : graph(graph), program(program), tree(tree), os(os) {}

  void describe(const Explanation &explanation, const AlignedNode &node,
                StringRef source);

private:
  void name(int32_t module, int32_t call);
  void step(const CandidateStep &candidate);
  void support(const CandidateStep &best, const AlignedNode &node);
  void defeat(const CandidateStep &best, const CandidateStep &other);

  const Graph &graph;
  const Program &program;
  const ModuleTree &tree;
  raw_ostream &os;
};
} // namespace

void PlaceDescription::name(int32_t module, int32_t call) {
  StringRef path = tree[module].path;
  if (path.empty())
    os << "the model itself";
  else
    os << "'" << path << "'";
  if (!tree[module].className.empty())
    os << " (" << tree[module].className << ")";
  if (tree[module].calls > 1)
    os << ", call " << call;
}

void PlaceDescription::step(const CandidateStep &candidate) {
  name(candidate.module, candidate.call);
  if (candidate.step < 0)
    os << ", between two of its steps";
  else
    os << ", step " << candidate.step << ", "
       << program.steps[candidate.step].kind;
  os << ": believed " << llvm::format("%.1f", 100 * candidate.belief) << " %";
}

void PlaceDescription::support(const CandidateStep &best,
                               const AlignedNode &node) {
  llvm::SmallVector<const char *> reasons;
  if (node.anchored)
    reasons.push_back("it reads a parameter that this step reads, or bears the "
                      "name of its value");
  if (!node.flags.kind)
    reasons.push_back("such steps are known to make such nodes");
  if (!node.flags.edge)
    reasons.push_back("what it reads and what reads it are placed where this "
                      "step reads and is read");
  if (!node.flags.order)
    reasons.push_back("its connections alone say the same");
  for (const char *reason : reasons)
    os << "\n       + " << reason;
  if (node.flags.kind)
    os << "\n       - no such step is known to make such a node";
  if (node.flags.edge)
    os << "\n       - a neighbour was placed where this step has none";
  if (node.flags.order)
    os << "\n       - its connections alone would place it elsewhere";
  if (node.flags.spread)
    os << "\n       - the belief is spread over several places";
}

/// "20 times less well", by a difference of log-likelihoods.
static void factor(raw_ostream &os, float behind, const char *less,
                   const char *more) {
  const float factor = std::exp(std::abs(behind));
  if (factor > 1e5f) // Beyond this a number says no more than the word.
    os << "far";
  else
    os << llvm::format(factor < 10 ? "%.1f" : "%.0f", factor) << " times";
  os << " " << (behind > 0 ? less : more);
}

void PlaceDescription::defeat(const CandidateStep &best,
                              const CandidateStep &other) {
  struct Part {
    const char *what, *less, *more;
    float behind;
  };
  Part parts[] = {{"such steps make such nodes ", "less often", "more often",
                   best.kind - other.kind},
                  {"its neighbours fit ", "less well", "better",
                   best.dataflow - other.dataflow},
                  {"its place in the order fits ", "less well", "better",
                   best.order - other.order}};
  llvm::sort(parts, [](const Part &a, const Part &b) {
    return std::abs(a.behind) > std::abs(b.behind);
  });
  bool any = false;
  for (const Part &part : parts) {
    if (std::abs(part.behind) < kWorthSaying)
      continue;
    any = true;
    os << "\n       " << (part.behind > 0 ? "- " : "+ ") << part.what;
    factor(os, part.behind, part.less, part.more);
  }
  if (!any)
    os << "\n       nothing tells it from the first";
}

void PlaceDescription::describe(const Explanation &explanation,
                                const AlignedNode &node, StringRef source) {
  const GraphNode &own = graph.nodes[explanation.node];
  if (explanation.candidates.empty()) {
    os << "no step of " << source << " could have made this " << own.op;
    return;
  }
  const CandidateStep &best = explanation.candidates.front();
  os << explanation.candidates.size() << " places in " << source
     << " could have made this " << own.op << ":";
  auto shown = llvm::ArrayRef(explanation.candidates).take_front(kMostShown);
  for (auto [rank, candidate] : llvm::enumerate(shown)) {
    os << "\n    " << rank + 1 << ". ";
    step(candidate);
    if (rank == 0)
      support(best, node);
    else
      defeat(best, candidate);
  }
  if (explanation.candidates.size() > kMostShown)
    os << "\n    and " << explanation.candidates.size() - kMostShown
       << " that are less likely";
  if (node.best.module >= 0 && node.best.module != best.module) {
    os << "\n    the answer is ";
    name(node.best.module, node.best.call);
    os << ": a part of it, or what reads it, says more";
  }
}

std::string htp::describe(const Explanation &explanation,
                          const AlignedNode &node, const Graph &graph,
                          const Program &program, const ModuleTree &tree,
                          StringRef source) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PlaceDescription(graph, program, tree, os)
      .describe(explanation, node, source);
  return text;
}
