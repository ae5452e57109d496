// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Corrects the answers for the reshapes around products. An optimizer that
// makes a Gemm of MatMul and Add reshapes its operand and its result.

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

using namespace htp;
using namespace htp::alignment;

namespace {

class WrapRules {
public:
  WrapRules(const Observations &observations, const States &states,
            const Frames &frames, const Emissions &emissions,
            llvm::ArrayRef<Index> placed, Alignment &result)
      : observations(observations), graph(observations.graph), states(states),
        frames(frames), emissions(emissions), placed(placed), result(result) {}

  void apply(Index n);

private:
  bool isProduct(Index m) const {
    const Observation &other = observations.list[m];
    return !other.isInput && !other.isOutput &&
           graph.nodes[other.node].op.ends_with("Gemm");
  }
  Belief &belief(Index n) const {
    return result.nodes[observations.list[n].node].best;
  }
  bool isMisshapen(Index n, Index state) const;
  llvm::SmallVector<Index> productsOf(Index n) const;

  const Observations &observations;
  const Graph &graph;
  const States &states;
  const Frames &frames;
  const Emissions &emissions;
  llvm::ArrayRef<Index> placed;
  Alignment &result;
};

} // namespace

/// Whether a node's result has another shape than that of the step.
bool WrapRules::isMisshapen(Index n, Index state) const {
  const GraphNode &node = graph.nodes[observations.list[n].node];
  Index made = 0;
  if (!node.outputs.empty() && node.outputs[0] >= 0)
    if (const GraphValue &value = graph.values[node.outputs[0]]; value.hasShape)
      made = states.findShape(value.shape);
  return made && states.list[state].shape && made != states.list[state].shape;
}

/// The products that a reshape was made for: the one whose result it reshapes,
/// or all that read it, if nothing else does.
llvm::SmallVector<Index> WrapRules::productsOf(Index n) const {
  llvm::SmallVector<Index> products;
  if (!observations.list[n].wrapsResult) {
    llvm::ArrayRef<Index> readers = observations.next[n];
    if (llvm::all_of(readers, [&](Index m) { return isProduct(m); }))
      products.append(readers.begin(), readers.end());
    return products;
  }
  // A reshape may also have a producer that computes its shape.
  for (Index p : observations.prev[n])
    if (isProduct(p) && products.empty())
      products.push_back(p);
  // If the result is not shaped like that of the product, the reshape was
  // merged with a view of the model.
  if (!products.empty() && isMisshapen(n, placed[products.front()]))
    products.clear();
  return products;
}

/// The reshapes belong to the product, or to what several products share, even
/// if the steps around them could have made them as well. A step that reshapes
/// by itself keeps its reshape.
void WrapRules::apply(Index n) {
  const Emits emits =
      howEmits(emissions, states.list[placed[n]].kind, observations.list[n]);
  if (emits != Emits::Wrap && emits != Emits::Nothing)
    return;
  llvm::SmallVector<Index> products = productsOf(n);
  if (products.empty() ||
      llvm::is_contained(
          llvm::map_range(products, [&](Index m) { return placed[m]; }),
          placed[n]))
    return;
  const Belief &first = belief(products.front());
  Index module = first.module, call = first.call;
  if (products.size() > 1) {
    if (!frames.known())
      return;
    Index shared = frames.of(module, call);
    for (Index m : llvm::drop_begin(products))
      shared =
          frames.common(shared, frames.of(belief(m).module, belief(m).call));
    module = frames.module(shared);
    call = frames.call(shared);
  }
  belief(n).module = module;
  belief(n).call = call;
}

void alignment::giveWrapsToProducts(const Observations &observations,
                                    const States &states, const Frames &frames,
                                    const Emissions &emissions,
                                    llvm::ArrayRef<Index> placed,
                                    Alignment &result) {
  const Index wrap = emissions.findOp("GemmReshape");
  if (wrap < 0)
    return;
  WrapRules rules(observations, states, frames, emissions, placed, result);
  for (Index n = 0; n < observations.size(); ++n)
    if (observations.list[n].op == wrap)
      rules.apply(n);
}
