// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramFit.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace htp;

/// Smaller tensors (scalars, axes, small biases) have the size of others by
/// chance.
static constexpr int64_t kLeastElements = 16;

/// The mean log-likelihood of a node in a model that the program is of:
/// between these two in all variants of the corpus (docs/Passes.md).
static constexpr double kFitting = -2.0;

/// Of a model's own trace nearly all tensors of the one side have a partner.
static constexpr double kMostlyFits = 0.8;

static double share(size_t part, size_t whole) {
  return whole ? double(part) / whole : 1.0;
}

void ProgramFit::countSizes(const Program &program, const Graph &graph) {
  llvm::DenseMap<int64_t, std::pair<size_t, size_t>> counts;
  auto count = [&](const TensorContent &content, auto member) {
    if (content.elements >= kLeastElements)
      ++(counts[content.elements].*member);
  };
  using Both = std::pair<size_t, size_t>;
  for (const Program::Parameter &parameter : program.parameters)
    if (!parameter.joined)
      count(parameter.content, &Both::first);
  for (const TensorContent &content : graph.constants)
    count(content, &Both::second);
  for (auto [size, both] : counts) {
    auto [mine, others] = both;
    tensors += mine;
    constants += others;
    tensorsFound += std::min(mine, others);
    constantsFound += std::min(mine, others);
  }
}

/// Parameters that were folded, rounded or quantized and names that were
/// removed prove nothing as long as something else fits.
ProgramFit::Verdict ProgramFit::verdict() const {
  constexpr double kFew = 0.25, kHalf = 0.5;
  if (!parameters || !nodes)
    return Verdict::Fits; // there is nothing to compare
  double byParameter = share(parametersFound, parameters),
         byName = share(named, nodes);
  // Of sizes too few say nothing.
  bool sizesTold = tensors && constants;
  double bySize = sizesTold ? std::max(share(tensorsFound, tensors),
                                       share(constantsFound, constants))
                            : 0;
  if (byParameter < kFew && byName < kFew && bySize < kHalf)
    return Verdict::Other;
  if (byParameter < kHalf && byName < kHalf &&
      (!sizesTold || bySize < kMostlyFits))
    return Verdict::Doubtful;
  return Verdict::Fits;
}

LogicalResult ProgramFit::report(mlir::ModuleOp module, StringRef name,
                                 StringRef evidence, bool force) const {
  Builder builder(module.getContext());
  NamedAttrList figures;
  auto add = [&](StringRef key, Attribute value) {
    figures.append(key, value);
  };
  auto count = [&](StringRef key, size_t value) {
    add(key, builder.getI64IntegerAttr(value));
  };
  Verdict answer = verdict();
  add("source", builder.getStringAttr(evidence == "alignment" ? "trace"
                                                              : evidence));
  count("parameters", parameters);
  count("parameters_found", parametersFound);
  count("tensors", tensors);
  count("tensors_found", tensorsFound);
  count("constants", constants);
  count("constants_found", constantsFound);
  count("nodes", nodes);
  count("nodes_named", named);
  count("nodes_explained", explained);
  add("likelihood", builder.getF64FloatAttr(likelihood()));
  add("likelihood_of_fitting", builder.getF64FloatAttr(kFitting));
  add("verdict", builder.getStringAttr(answer == Verdict::Fits ? "fits"
                                       : answer == Verdict::Doubtful
                                           ? "doubtful"
                                           : "other model"));
  if (HierarchyOp hierarchy = findHierarchy(module)) {
    SmallVector<Attribute> all;
    if (auto before = hierarchy->getAttrOfType<ArrayAttr>(kFitAttr))
      llvm::append_range(all, before);
    all.push_back(figures.getDictionary(module.getContext()));
    hierarchy->setAttr(kFitAttr, builder.getArrayAttr(all));
  }
  if (answer == Verdict::Fits)
    return success();
  std::string found =
      llvm::formatv("{0} of its {1} parameters are in the model, {2} of its {3} "
                    "tensors have a partner of the same size there, and it "
                    "explains {4} of {5} nodes (likelihood {6:f2}, expected "
                    "about {7:f1})",
                    parametersFound, parameters, tensorsFound, tensors,
                    explained, nodes, likelihood(), kFitting);
  if (answer == Verdict::Other && !force) {
    InFlightDiagnostic error = module.emitError()
                               << name << " is of another model: " << found;
    error.attachNote() << "the option force goes on all the same";
    return error;
  }
  module.emitWarning() << name
                       << (answer == Verdict::Other ? " is" : " may be")
                       << " of another model: " << found;
  return success();
}
