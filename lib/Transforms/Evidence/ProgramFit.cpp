// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether a program belongs to the model, from counts of parameters,
// sizes and contents.

#include "ProgramFit.h"

#include "HTP/Alignment/Emission.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace htp;

/// Smaller tensors (scalars, axes, small biases) have equal sizes by chance.
static constexpr int64_t kLeastElements = 16;

/// The typical mean log-likelihood of a node if the program belongs to the
/// model: on the corpus it is between 0 and -2, with a median of about this.
static constexpr double kFitting = -0.9;

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

/// Counts the parameters whose contents are in the model. Parameters that equal
/// another one (zero biases, the ones of norms) are left out, because other
/// models have them, too.
void ProgramFit::compareContents(const Program &program, const Graph &graph) {
  auto isLarge = [](const TensorContent &content) {
    return content.values && content.elements >= kLeastElements &&
           content.kind == ElementKind::Float && content.bits;
  };
  llvm::DenseMap<uint64_t, unsigned> times;
  for (const Program::Parameter &parameter : program.parameters)
    if (isLarge(parameter.content))
      ++times[parameter.content.values];
  llvm::DenseSet<std::pair<int64_t, unsigned>> types;
  llvm::DenseSet<uint64_t> present;
  for (const TensorContent &content : graph.constants) {
    quantized += content.elements >= kLeastElements && content.bits &&
                 content.bits <= 8 && content.kind == ElementKind::Integer;
    if (isLarge(content)) {
      types.insert({content.elements, content.bits});
      present.insert(content.values);
    }
  }
  for (const Program::Parameter &parameter : program.parameters) {
    const TensorContent &content = parameter.content;
    if (parameter.joined || !isLarge(content) || times[content.values] > 1 ||
        !types.contains({content.elements, content.bits}))
      continue;
    ++compared;
    equal += present.contains(content.values);
  }
  norms = llvm::count_if(program.steps, [](const Program::Step &step) {
    return EmissionTable::get().canonical(step.kind) == "batch_norm";
  });
}

/// Counts a weight that was compared by its sketch. Vectors are left out: in
/// untrained models they are often equal, and those that a quantizer made
/// belong to no parameter.
void ProgramFit::addSketch(const TensorContent &content, bool found) {
  if (content.shape.size() < 2 || content.elements < kLeastElements)
    return;
  ++sketched;
  recognised += found;
}

/// Decides by thresholds that were measured on the corpus. Parameters that were
/// folded, rounded or quantized, and names that were removed, prove nothing as
/// long as something else fits.
///
/// Sizes: with a model's own trace, 0.94 or more of the model's tensors have a
/// partner of the same size, in all forms but packed ones. With another model's
/// trace, it is 0.8 or less, unless the architectures are close.
///
/// Contents decide the rest: of what can be compared, in 4 bits or as exported,
/// 0.34 or more is the program's if it is the model's own, and 0.05 or less if
/// only the architecture is the same.
ProgramFit::Verdict ProgramFit::verdict() const {
  constexpr double kFew = 0.25, kHalf = 0.5, kOtherSizes = 0.6,
                   kOwnSizes = 0.85, kSameContents = 0.1, kOwnContents = 0.15;
  constexpr size_t kEnough = 4;
  if (!parameters || !nodes)
    return Verdict::Fits; // there is nothing to compare
  double byParameter = share(parametersFound, parameters),
         byName = share(named, nodes);
  bool isQuantized = quantized * 4 >= constants && quantized;
  bool otherContents = compared >= kEnough && compared - equal > 2 * norms &&
                       !isQuantized && share(equal, compared) < kSameContents;
  // Sketches do not match by chance.
  if (recognised >= kEnough && share(recognised, sketched) >= kHalf)
    return Verdict::Fits;
  bool sizesTold = tensors && constants;
  double bySize = sizesTold ? share(constantsFound, constants) : 0;
  // Related models have the same module names, so names are ignored here.
  bool otherSizes = tensors >= kEnough && constants >= kEnough &&
                    !isQuantized && byParameter < kHalf && bySize < kHalf;
  if (byParameter < kFew && byName < kFew && bySize < kOtherSizes)
    return Verdict::Other;
  // Almost nothing that could be compared is the program's: perhaps it has the
  // same architecture but other weights. A few matches are no counterevidence,
  // because tables (of angles, of masks) are equal in all models of an
  // architecture.
  bool otherWeights =
      sketched >= kEnough &&
      share(recognised + equal, sketched + compared) < kOwnContents;
  if (otherContents || otherSizes || otherWeights)
    return Verdict::Doubtful;
  if (byParameter < kHalf && byName < kHalf && bySize < kOwnSizes)
    return Verdict::Doubtful;
  return Verdict::Fits;
}

LogicalResult ProgramFit::report(mlir::ModuleOp module, StringRef name,
                                 Evidence evidence, bool force) const {
  Builder builder(module.getContext());
  NamedAttrList figures;
  auto add = [&](StringRef key, Attribute value) {
    figures.append(key, value);
  };
  auto count = [&](StringRef key, size_t value) {
    add(key, builder.getI64IntegerAttr(value));
  };
  Verdict answer = verdict();
  add("source", builder.getStringAttr(
                    evidence == Evidence::Alignment ? "trace" : "reference"));
  count("parameters", parameters);
  count("parameters_found", parametersFound);
  count("tensors", tensors);
  count("tensors_found", tensorsFound);
  count("constants", constants);
  count("constants_found", constantsFound);
  count("contents_compared", compared);
  count("contents_equal", equal);
  count("sketches_compared", sketched);
  count("sketches_recognised", recognised);
  count("nodes", nodes);
  count("nodes_named", named);
  count("nodes_explained", explained);
  add("likelihood", builder.getF64FloatAttr(likelihood()));
  add("likelihood_of_fitting", builder.getF64FloatAttr(kFitting));
  add("verdict",
      builder.getStringAttr(answer == Verdict::Fits       ? "fits"
                            : answer == Verdict::Doubtful ? "doubtful"
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
      llvm::formatv("{0} of its {1} parameters are in the model, {2} of the "
                    "model's {3} tensors have a partner of their size, and it "
                    "explains {4} of {5} nodes (likelihood {6:f2}, about "
                    "{7:f1} where it fits)",
                    parametersFound, parameters, constantsFound, constants,
                    explained, nodes, likelihood(), kFitting);
  if (sketched)
    found += llvm::formatv("; {0} of {1} weights that equal none look like one "
                           "of its parameters",
                           recognised, sketched);
  if (answer == Verdict::Other && !force) {
    InFlightDiagnostic error = module.emitError()
                               << name << " is of another model: " << found;
    error.attachNote() << "the option force turns this into a warning";
    return error;
  }
  module.emitWarning() << name << (answer == Verdict::Other ? " is" : " may be")
                       << " of another model: " << found;
  return success();
}
