// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the alignment on each function and turns its answers into tags, contexts
// and call numbers.

#include "AlignedTags.h"
#include "DescribePlace.h"
#include "Ground.h"

#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace htp;

/// The confidence of the context for a module that was folded into the node:
/// half of the node is that module's.
static constexpr double kAbsorbed = 0.5;

AlignedTags::AlignedTags(mlir::ModuleOp module, const Program &program,
                         const ModuleTree &programTree,
                         HierarchyAnalysis &hierarchy)
    : module(module), program(program), programTree(programTree),
      hierarchy(hierarchy), tags(programTree.size()) {
  places.reserve(programTree.size());
  paths.reserve(programTree.size());
  const ModuleTree &tree = hierarchy.tree();
  for (ModuleId id : programTree.ids()) {
    const Module &own = programTree[id];
    places.push_back({id == ModuleTree::root() ? -1 : int32_t(own.parent),
                      int32_t(std::min<int64_t>(own.calls, INT32_MAX))});
    // The trees are usually equal, which avoids lookups by path.
    bool same = &tree == &programTree ||
                (id < tree.size() && tree[id].path == own.path);
    sameTree &= same;
    paths.push_back(hierarchy.paths()[same ? id : tree.nearest(own.path)]);
  }
  if (!program.sameNames)
    return;
  for (auto [index, step] : llvm::enumerate(program.steps))
    for (int32_t output : step.outputs)
      if (StringRef name = program.values[output].name; !name.empty())
        stepsByName.try_emplace(name, index);
}

/// Collects the sizes of the parameters whose contents are known. Constants of
/// other sizes cannot equal a parameter and are not read; for a trace without
/// weights, none are.
void AlignedTags::findSizes() {
  for (const Program::Parameter &parameter : program.parameters)
    if (parameter.content.values)
      sizes.insert(parameter.content.elements);
}

/// Recognises weights by sketches if they equal no parameter: they may be
/// rounded, quantized or packed.
void AlignedTags::recognise(ModelGraph &model) {
  if (!sketches)
    return;
  llvm::DenseSet<std::pair<uint64_t, int64_t>> exact;
  for (const Program::Parameter &parameter : program.parameters)
    if (parameter.content.values)
      exact.insert({parameter.content.values, parameter.content.elements});
  for (auto [content, value] :
       llvm::zip(model.graph.constants, model.constants)) {
    if (content.values && exact.contains({content.values, content.elements}))
      continue;
    SketchMatches *matches = sketches();
    if (!matches || matches->empty())
      return;
    ArrayRef<SketchMatch> found = matches->find(value);
    for (const SketchMatch &match : found)
      content.parameters.append(match.parameters.begin(),
                                match.parameters.end());
    content.packed = found.size() > 1;
    fit.addSketch(content, !found.empty());
  }
}

/// A node that reads the parameters of several modules, packed into one weight,
/// does the work of all of them. It belongs to their common ancestor.
void AlignedTags::placePacked(const ModelGraph &model,
                              Alignment &result) const {
  if (llvm::none_of(model.graph.constants,
                    [](const TensorContent &c) { return c.packed; }))
    return;
  std::vector<SmallVector<ModuleId, 1>> readers(program.parameters.size());
  for (const Program::Step &step : program.steps)
    for (int32_t parameter : step.parameters)
      readers[parameter].push_back(step.module);
  for (auto [node, placed] : llvm::zip(model.graph.nodes, result.nodes))
    for (int32_t input : node.inputs) {
      int32_t constant = input < 0 ? -1 : model.graph.values[input].constant;
      if (constant < 0 || !model.graph.constants[constant].packed)
        continue;
      SmallVector<ModuleId> modules;
      for (int32_t parameter : model.graph.constants[constant].parameters)
        modules.append(readers[parameter].begin(), readers[parameter].end());
      // If the node was placed elsewhere, because of something else that it
      // reads, it stays there.
      if (!llvm::is_contained(modules, ModuleId(placed.best.module)))
        continue;
      placed.best.module = programTree.lowestCommonAncestor(modules);
      placed.second = {};
      break;
    }
}

/// Whether the alignment may replace a tag. It may if the tag rests on next to
/// nothing, or on a parameter, which may stand for another parameter that was
/// equal.
static bool givesWay(TagAttr tag) {
  return tag.getEvidence() == Evidence::Parameter ||
         tag.getConfidenceValue() <= kGivesWay;
}

/// Existing tags are fixed points of the alignment. Those that rest on a
/// parameter's name are weak: the contents of parameters overrule them.
void AlignedTags::setPriors(ModelGraph &model) {
  for (auto [op, node] : llvm::zip(model.operations, model.graph.nodes)) {
    TagAttr tag = getTag(op);
    if (!tag)
      continue;
    std::optional<ModuleId> known =
        sameTree ? hierarchy.paths().find(tag.getPathAttr())
                 : programTree.find(tag.getPath());
    if (!known)
      continue;
    node.prior.module = *known;
    node.prior.weak = givesWay(tag);
    // Other evidence often leaves open which call it is. The node's parameters
    // say which step of the module it is, and therefore come first.
    if (tag.getEvidence() == Evidence::Executed) {
      node.prior.call = tag.getCall();
      node.prior.weak = true;
    }
  }
}

void AlignedTags::setParameters(size_t known, size_t found) {
  fit.parameters = known;
  fit.parametersFound = found;
}

/// Counts how much of the program was found in the model. Nodes that are only
/// known to be in the root do not count as named, because every model has a
/// root.
void AlignedTags::measure(const ModelGraph &model, const Alignment &result) {
  if (!fit.parameters || result.parametersFound > fit.parametersFound) {
    fit.parameters = std::max<size_t>(fit.parameters, result.parameters);
    fit.parametersFound = result.parametersFound;
  }
  fit.countSizes(program, model.graph);
  fit.compareContents(program, model.graph);
  // Of a reference, only tensors were read whose size occurs in the model.
  // Count all of its tensors instead.
  if (program.sameNames)
    fit.parameters = std::max(fit.parameters, fit.tensors);
  for (auto [node, placed] : llvm::zip(model.graph.nodes, result.nodes)) {
    ++fit.nodes;
    fit.named += node.prior.module > int32_t(ModuleTree::root());
    fit.explained +=
        placed.step >= 0 && !placed.flags.kind && !placed.flags.edge;
  }
  fit.logLikelihood += result.fit * model.graph.nodes.size();
}

/// Adds the number of the call to a tag that names the same module without one.
void AlignedTags::addCall(Operation *op, TagAttr tag, const AlignedNode &node) {
  if (node.step < 0 || node.best.call == tag.getCall() || tag.getCall() != 0 ||
      tag.getEvidence() == Evidence::Executed ||
      paths[node.best.module] != tag.getPathAttr())
    return;
  setTag(op, TagAttr::get(tag.getPathAttr(), node.best.call, tag.getEvidence(),
                          tag.getConfidenceValue(), tag.getReason(),
                          tag.getContexts()));
}

/// Whether the alignment agrees with the tag that the node already has.
bool AlignedTags::confirms(const AlignedNode &node, TagAttr tag) const {
  return paths[node.best.module] == tag.getPathAttr() &&
         (tag.getCall() == 0 || tag.getCall() == node.best.call);
}

void AlignedTags::tag(Operation *op, const AlignedNode &node) {
  Ground ground =
      fits ? groundOf(node, evidence == Evidence::Reference, ownOrder)
           : Ground::OtherModel;
  double confidence = worth(ground);
  bool byParameter = node.anchored && !program.sameNames;
  ++(byParameter ? numByParameter : numAligned);
  TagAttr tag =
      tags.make(node.best.module, paths[node.best.module], node.best.call,
                byParameter ? Evidence::Parameter : evidence, confidence);
  if (node.second.module >= 0 &&
      paths[node.second.module] != paths[node.best.module])
    tag = tag.withContexts(ContextAttr::get(op->getContext(),
                                            paths[node.second.module], evidence,
                                            std::min(doubt(confidence), 0.5)));
  recordGround(op, ground);
  tags.write(op, tag);
}

/// Adds a context for the module of a norm that was folded into the node.
void AlignedTags::addAbsorbed(Operation *op, const AlignedNode &node) {
  TagAttr tag = getTag(op);
  if (node.absorbed.module < 0 || !tag)
    return;
  StringAttr path = paths[node.absorbed.module];
  auto isKnown = [&](ContextAttr context) {
    return context.getPath() == path.getValue();
  };
  if (path == tag.getPathAttr() || llvm::any_of(tag.getContexts(), isKnown))
    return;
  SmallVector<ContextAttr> contexts(tag.getContexts());
  contexts.push_back(
      ContextAttr::get(op->getContext(), path, evidence, kAbsorbed));
  tags.write(op, tag.withContexts(contexts));
}

void AlignedTags::write(Operation *op, const AlignedNode &node) {
  if (node.best.module < 0)
    return;
  TagAttr existing = getTag(op);
  if (existing && (!givesWay(existing) || confirms(node, existing)))
    addCall(op, existing, node);
  else
    tag(op, node);
  addAbsorbed(op, node);
}

void AlignedTags::write(const ModelGraph &model, const Alignment &result) {
  for (auto [op, own] : llvm::zip(model.operations, result.nodes)) {
    // A node in a body belongs where the node that holds the body belongs,
    // unless a parameter says otherwise.
    AlignedNode node = own;
    auto holder = model.nodeOf.find(op->getParentOp());
    if (holder != model.nodeOf.end() && !own.anchored)
      node.best = result.nodes[holder->second].best;
    write(op, node);
  }
  for (auto [op, node] : model.ends)
    write(op, atItsName(op, result.nodes[node]));
}

/// A node that only re-encodes a value belongs where the value was made, unless
/// it makes a value of the program by name: then a step in between left no node
/// of its own, such as a Relu that a quantizer took into a range.
AlignedNode AlignedTags::atItsName(Operation *op, AlignedNode node) const {
  auto found = stepsByName.find(getValueName(op->getResult(0)));
  if (found == stepsByName.end())
    return node;
  const Program::Step &step = program.steps[found->second];
  if (step.module == node.best.module && step.call == node.best.call)
    return node;
  node.second = node.best;
  node.best = {step.module, step.call, 1};
  node.step = found->second;
  node.anchored = true;
  return node;
}

AlignmentOptions AlignedTags::optionsFor(const ModelGraph &model) const {
  AlignmentOptions result = options;
  for (auto [index, op] : llvm::enumerate(model.operations))
    if (!explained.empty() && isCalled(op, explained))
      result.explain.push_back(index);
  return result;
}

void AlignedTags::explain(const ModelGraph &model,
                          const Alignment &result) const {
  for (const Explanation &explanation : result.explanations)
    model.operations[explanation.node]->emitRemark(
        describe(explanation, result.nodes[explanation.node], model.graph,
                 program, programTree, source));
}

LogicalResult AlignedTags::run() {
  findSizes();
  std::vector<std::pair<ModelGraph, Alignment>> aligned;
  for (FunctionOpInterface function : CallGraph(module).entries()) {
    ModelGraph model(function, sizes);
    setPriors(model);
    recognise(model);
    Alignment result = align(model.graph, program, places, optionsFor(model));
    placePacked(model, result);
    measure(model, result);
    aligned.emplace_back(std::move(model), std::move(result));
  }
  if (failed(fit.report(module, source, evidence, force)))
    return failure();
  fits = fit.verdict() == ProgramFit::Verdict::Fits;
  for (auto &[model, result] : aligned) {
    ownOrder = result.ownOrder;
    explain(model, result);
    write(model, result);
  }
  return success();
}
