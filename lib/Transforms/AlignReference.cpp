// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-align-reference: see Passes.td. Converts the tagged reference to a
// program whose steps are its nodes, and aligns the model with that.

#include "DebugOutput.h"
#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Transforms/ModelLoader.h"
#include "HTP/Transforms/Passes.h"

#include "Evidence/AlignedTags.h"
#include "Evidence/DirectEvidence.h"

#include <cassert>
#include <deque>

#define DEBUG_TYPE "htp-align-reference"

namespace htp {
#define GEN_PASS_DEF_HTPALIGNREFERENCE
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

/// The functions that a tagged model runs, as one program.
class ReferenceProgram {
public:
  ReferenceProgram(mlir::ModuleOp module, const ModuleTree &tree,
                   const DenseSet<int64_t> &sizes);

  Program program;
  unsigned numTagged = 0;

  /// Sketches of all constants, in both orientations.
  SketchMatches makeSketches() const;

private:
  void add(const ModelGraph &model, const ModuleTree &tree);

  std::deque<std::string> kinds;
  std::deque<ModelGraph> models;
};

struct AlignReference : htp::impl::HTPAlignReferenceBase<AlignReference> {
  using HTPAlignReferenceBase::HTPAlignReferenceBase;
  void runOnOperation() override;
};

} // namespace

ReferenceProgram::ReferenceProgram(mlir::ModuleOp module,
                                   const ModuleTree &tree,
                                   const DenseSet<int64_t> &sizes) {
  program.sameNames = true;
  for (FunctionOpInterface function : CallGraph(module).entries())
    add(models.emplace_back(function, sizes), tree);
}

void ReferenceProgram::add(const ModelGraph &model, const ModuleTree &tree) {
  int32_t firstValue = program.values.size(),
          firstParameter = program.parameters.size();
  for (const GraphValue &value : model.graph.values)
    program.values.push_back({value.name, value.hasShape, value.shape});
  for (const TensorContent &content : model.graph.constants)
    program.parameters.push_back({"", content});
  for (auto [op, node] : llvm::zip(model.operations, model.graph.nodes)) {
    Program::Step step;
    step.kind = kinds.emplace_back(("onnx::" + node.op).str());
    step.name = node.name;
    bool hasConstant = llvm::any_of(node.inputs, [&](int32_t input) {
      return input >= 0 && model.graph.values[input].constant >= 0;
    });
    if (node.op == "Add" && !hasConstant)
      step.kind = kinds.emplace_back("onnx::Add/values");
    if (TagAttr tag = getTag(op)) {
      step.module = tree.nearest(tag.getPath());
      step.call = tag.getCall();
      ++numTagged;
    }
    for (int32_t input : node.inputs) {
      if (input < 0)
        continue;
      if (int32_t constant = model.graph.values[input].constant; constant >= 0)
        step.parameters.push_back(firstParameter + constant);
      else
        step.inputs.push_back(firstValue + input);
    }
    for (int32_t output : node.outputs)
      step.outputs.push_back(firstValue + output);
    program.steps.push_back(std::move(step));
  }
  for (int32_t input : model.graph.inputs)
    program.inputs.push_back(firstValue + input);
  for (int32_t output : model.graph.outputs)
    program.outputs.push_back(firstValue + output);
}

SketchMatches ReferenceProgram::makeSketches() const {
  SketchIndex index;
  int32_t number = 0;
  for (const ModelGraph &model : models)
    for (Value constant : model.constants) {
      int32_t id = number++;
      assert(size_t(id) < program.parameters.size() &&
             "constants are the program's parameters");
      std::unique_ptr<WeightReader> weight = weightReader(constant);
      auto layout = weight ? SketchLayout::of(weight->shape()) : std::nullopt;
      if (!layout || program.parameters[id].content.kind != ElementKind::Float)
        continue;
      for (Sketch &sketch : sketchBothWays(*layout, *weight))
        index.add(id, std::move(sketch));
    }
  return SketchMatches(std::move(index));
}

/// The element counts of the model's tensors. Tensors of the reference with
/// other counts need not be read.
static DenseSet<int64_t> sizesIn(mlir::ModuleOp module) {
  DenseSet<int64_t> sizes;
  module->walk([&](Operation *op) {
    if (auto value = op->getAttrOfType<ElementsAttr>("value"))
      sizes.insert(value.getNumElements());
  });
  return sizes;
}

/// Only the modules: parameters are compared with those of the reference later.
static ModuleTree withoutParameters(const ModuleTree &tree) {
  std::vector<htp::Module> modules(tree.all().begin(), tree.all().end());
  for (htp::Module &module : modules)
    module.parameters.clear();
  return cantFail(ModuleTree::create(std::move(modules)));
}

static bool haveSamePaths(const ModuleTree &a, const ModuleTree &b) {
  return llvm::equal(a.all(), b.all(),
                     [](const htp::Module &own, const htp::Module &other) {
                       return own.path == other.path;
                     });
}

/// Reads the scopes in names again, now as names of the reference's modules:
/// before, they were read by a tree that was guessed from them.
static void readNames(mlir::ModuleOp module, const ModuleTree &tree) {
  auto isByName = [](TagAttr tag) {
    return tag.getEvidence() == Evidence::Name ||
           tag.getEvidence() == Evidence::ValueName;
  };
  ModuleTree modules = withoutParameters(tree);
  DirectEvidence evidence(module, modules, /*trace=*/nullptr);
  PathAttrs paths(modules, module.getContext());
  TagWriter tags(modules.size());
  forEachRootedNode(module, [&](Operation *op) {
    TagAttr before = getTag(op);
    if (before && !isByName(before))
      return;
    if (TagAttr named = evidence.tag(op, paths, tags);
        named && isByName(named) && named != before)
      tags.write(op, named);
  });
}

/// Drops users and contexts that are not modules of the reference: before,
/// these were guessed from names alone.
static void dropUnknown(mlir::ModuleOp module, const ModuleTree &tree) {
  auto isUnknown = [&](Attribute path) {
    auto text = dyn_cast<StringAttr>(path);
    return !text || !tree.contains(text.getValue());
  };
  auto anyUnknown = [&](Attribute users) {
    auto paths = dyn_cast_or_null<ArrayAttr>(users);
    return paths && llvm::any_of(paths, isUnknown);
  };
  module->walk([&](Operation *op) {
    if (TagAttr tag = getTag(op); tag && !tree.contains(tag.getPath())) {
      LDBG() << "dropped a tag that is not in the reference's tree: " << tag;
      op->removeAttr(kTagAttr);
      op->setLoc(stripScopes(op->getLoc()));
    } else if (tag) {
      if (TagAttr known = withKnownContexts(tag, tree); known != tag)
        op->setAttr(kTagAttr, known);
    }
    if (anyUnknown(op->getAttr(kUsersAttr)))
      op->removeAttr(kUsersAttr);
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
        if (anyUnknown(function.getArgAttr(i, kUsersAttr)))
          function.removeArgAttr(i, kUsersAttr);
  });
}

void AlignReference::runOnOperation() {
  mlir::ModuleOp module = getOperation();
  if (reference.empty()) {
    module.emitError(
        "no reference given: use htp-align-reference{reference=FILE}");
    return signalPassFailure();
  }
  OwningOpRef<mlir::ModuleOp> other = loadModel(reference, &getContext());
  if (!other) {
    module.emitError() << "cannot read the reference '" << reference << "'";
    return signalPassFailure();
  }
  ModuleTree tree = fromIR(*other);
  ReferenceProgram program(*other, tree, sizesIn(module));
  if (program.numTagged == 0) {
    module.emitError() << "the reference '" << reference
                       << "' has no tags: tag it first, with --htp-tag";
    return signalPassFailure();
  }
  LDBG() << "the reference has " << program.numTagged << " tags on "
         << program.program.steps.size() << " nodes, and "
         << program.program.parameters.size() << " constants";
  if (!haveSamePaths(fromIR(module), tree))
    readNames(module, tree);
  toIR(tree, module);
  dropUnknown(module, tree);
  HierarchyAnalysis hierarchy(module);
  AlignedTags tags(module, program.program, tree, hierarchy);
  tags.setSourceName("the reference '" + reference.getValue() + "'");
  tags.setEvidence(Evidence::Reference);
  tags.setForce(force);
  tags.setExplained(explain);
  AlignmentParameters changed;
  if (llvm::Error error = changed.set(numbers)) {
    module.emitError() << llvm::toString(std::move(error));
    return signalPassFailure();
  }
  tags.setNumbers(changed);
  std::optional<SketchMatches> sketches;
  tags.setSketches([&] {
    if (!sketches)
      sketches.emplace(program.makeSketches());
    return &*sketches;
  });
  if (failed(tags.run()))
    return signalPassFailure();
  LDBG() << tags.numAligned << " nodes took over a tag";
  LDBG_OS(2, [&](raw_ostream &os) {
    os << "tags after the alignment:";
    forEachRootedNode(module, [&](Operation *op) {
      os << "\n  " << DebugNode{op} << " " << getTag(op);
    });
  });
  numAligned += tags.numAligned;
}
