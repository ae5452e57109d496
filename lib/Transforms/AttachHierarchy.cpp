// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-attach-hierarchy: attaches the module tree, and tags ops by their own
// evidence of the module that made them.
//
//   "onnx.MatMul"(%x, %w) {onnx_node_name = "/encoder/fc/MatMul"}
//
// becomes, if the tree has a module `encoder.fc`,
//
//   "onnx.MatMul"(%x, %w) {htp.tag = #htp.tag<"encoder.fc", evidence = "name",
//   …>, …}
//       loc(fused<{htp.scope = "encoder.fc"}>["/encoder/fc/MatMul"])

#include "DebugOutput.h"
#include "Evidence/DirectEvidence.h"
#include "Evidence/Ground.h"
#include "Evidence/HierarchySource.h"
#include "Evidence/PlainModel.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Support/Parallel.h"
#include "HTP/Transforms/Passes.h"
#include "HTP/Transforms/TraceReader.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

#define DEBUG_TYPE "htp-attach-hierarchy"

namespace htp {
#define GEN_PASS_DEF_HTPATTACHHIERARCHY
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

/// A parameter with more possible readers than this gets no list of them: equal
/// parameters of an untrained model would get thousands of long lists.
static constexpr size_t kMostPossible = 64;

/// The sources as the option `from` spells them, in the order of the enum.
static constexpr StringLiteral kSourceNames[] = {
    "trace", "hierarchy", "metadata", "names", "locations"};

/// Parses the option `from`: nothing for `auto`, an error for an invalid value.
static FailureOr<std::optional<HierarchySource>>
parseSource(StringRef text, bool hasTrace, Location loc) {
  if (text == "auto")
    return std::optional<HierarchySource>();
  auto source = llvm::StringSwitch<std::optional<HierarchySource>>(text)
                    .Case("trace", HierarchySource::Trace)
                    .Case("hierarchy", HierarchySource::Hierarchy)
                    .Case("metadata", HierarchySource::Metadata)
                    .Case("names", HierarchySource::Names)
                    .Case("locations", HierarchySource::Locations)
                    .Default(std::nullopt);
  if (!source)
    return emitError(loc)
           << "from=" << text
           << " is unknown, expected auto, trace, hierarchy, metadata, names "
              "or locations";
  if (source == HierarchySource::Trace && !hasTrace)
    return emitError(loc, "from=trace needs a trace, expected trace=FILE");
  return source;
}

/// The scope of the nearest enclosing op that has one. An outlined function
/// stands for its module, whose relative path is empty.
static std::optional<Scope> scopeAround(Operation *op) {
  for (Operation *outer = op->getParentOp(); outer;
       outer = outer->getParentOp()) {
    if (isa<FunctionOpInterface>(outer))
      return outer->hasAttr(kModuleAttr) ? std::optional(Scope{""})
                                         : std::nullopt;
    if (std::optional<Scope> around = findScope(outer->getLoc()))
      return around;
  }
  return std::nullopt;
}

/// The frame (relative or absolute paths) of the function around `op`.
static ModuleFrame frameAround(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto outlined = function ? function->getAttrOfType<StringAttr>(kModuleAttr)
                           : StringAttr();
  return ModuleFrame(outlined ? outlined.getValue() : StringRef());
}

/// The tag implied by the scopes in `op`'s location, or null. Several scopes
/// give their lowest common ancestor.
static TagAttr tagFromLocation(Operation *op, const ModuleTree &tree) {
  SmallVector<Scope, 1> scopes = findScopes(op->getLoc());
  MLIRContext *context = op->getContext();
  if (scopes.empty()) {
    // Lowerings create bodies (of loops, for example) without locations.
    std::optional<Scope> around = scopeAround(op);
    if (!around)
      return {};
    recordGround(op, Ground::OuterScope);
    return TagAttr::get(context, around->path, around->call, Evidence::Location,
                        worth(Ground::OuterScope),
                        "in the body of an op of the module");
  }
  if (scopes.size() == 1) {
    recordGround(op, Ground::OneScope);
    return TagAttr::get(context, scopes[0].path, scopes[0].call,
                        Evidence::Location, worth(Ground::OneScope));
  }
  recordGround(op, Ground::SeveralScopes);
  SmallVector<ModuleId> modules;
  SmallVector<ContextAttr> contexts;
  ModuleFrame frame = frameAround(op);
  for (Scope scope : scopes) {
    modules.push_back(tree.nearest(frame.absolute(scope.path)));
    contexts.push_back(ContextAttr::get(context, scope.path, Evidence::Location,
                                        worth(Ground::SeveralScopes)));
  }
  std::string shared =
      frame.relative(tree[tree.lowestCommonAncestor(modules)].path);
  return TagAttr::get(context, shared, 0, Evidence::Location,
                      worth(Ground::SeveralScopes),
                      "made of ops of several modules", contexts);
}

/// Fails for an outlined model: a trace describes the ops of the flat model.
static LogicalResult requireInlined(mlir::ModuleOp module) {
  auto functions = module.getOps<FunctionOpInterface>();
  size_t outlined = llvm::count_if(functions, [](FunctionOpInterface function) {
    return function->hasAttr(kModuleAttr);
  });
  if (!outlined)
    return success();
  return module.emitError("the model is outlined: ")
         << outlined
         << " of its functions are modules, whose nodes have their tags; run "
            "--htp-inline first to tag it by a trace";
}

/// Whether the tag was given by a user.
static bool isGiven(TagAttr tag) {
  return tag && tag.getEvidence() == Evidence::Override;
}

/// Removes what an earlier run recorded about parameters.
static void dropParameters(mlir::ModuleOp module) {
  module->walk([](Operation *op) {
    if (isInitializer(op)) {
      op->removeAttr(kParameterAttr);
      op->removeAttr(kUsersAttr);
    } else if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      ArgumentAttrs attrs(function);
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
        attrs[i].erase(kParameterAttr);
        attrs[i].erase(kUsersAttr);
      }
      attrs.store();
    }
  });
}

namespace {
struct AttachHierarchy : htp::impl::HTPAttachHierarchyBase<AttachHierarchy>,
                         TraceReader {
  using HTPAttachHierarchyBase::HTPAttachHierarchyBase;

  StringRef traceFile() const override { return trace.getValue(); }

  void runOnOperation() override;

private:
  std::shared_ptr<const ModuleTree>
  chooseTree(std::shared_ptr<const Trace> known,
             std::shared_ptr<const Executed> ran,
             std::optional<HierarchySource> source);
  void attachFromLocations(const ModuleTree &tree);
  void attachEvidence(const ModuleTree &tree, PathAttrs &paths,
                      const Trace *known, const DirectEvidence &evidence);
  void attachParameters(PathAttrs &paths, const ParameterValues &parameters);
  void noteFit(const ParameterValues &parameters);
};
} // namespace

void AttachHierarchy::runOnOperation() {
  mlir::ModuleOp module = getOperation();
  auto source = parseSource(from, !trace.empty(), module.getLoc());
  if (failed(source))
    return signalPassFailure();
  std::shared_ptr<const Trace> known;
  if (!trace.empty()) {
    if (failed(requireInlined(module)))
      return signalPassFailure();
    auto loaded = loadTrace(trace);
    if (!loaded) {
      module.emitError("no trace: ") << llvm::toString(loaded.takeError());
      return signalPassFailure();
    }
    known = *loaded;
  }
  std::shared_ptr<const Executed> ran;
  if (!executed.empty()) {
    if (failed(requireInlined(module)))
      return signalPassFailure();
    auto loaded = Executed::load(executed);
    if (!loaded) {
      module.emitError("no run: ") << llvm::toString(loaded.takeError());
      return signalPassFailure();
    }
    ran = std::make_shared<const Executed>(std::move(*loaded));
  }
  std::shared_ptr<const ModuleTree> tree = chooseTree(known, ran, *source);
  if (!tree)
    return signalPassFailure();
  bool isPlain = markInitializers(module);
  if (*source == HierarchySource::Locations) {
    toIR(*tree, module);
    attachFromLocations(*tree);
    // Match constants by contents, and by the parameter's name in the location
    // if any.
    PathAttrs paths(*tree, &getContext());
    if (isPlain)
      attachParameters(paths, ParameterValues(module, *tree, nullptr));
    return takePlainNotes(module, /*keep=*/true);
  }
  takePlainNotes(module, /*keep=*/!known);
  OwningOpRef<HierarchyOp> hierarchy;
  std::optional<DirectEvidence> evidence;
  PathAttrs paths(*tree, &getContext());
  bool isOfModel = (known && tree.get() == &known->tree) ||
                   (ran && tree.get() == &ran->tree);
  SketchMatches *sketches =
      isOfModel ? &getAnalysis<SketchAnalysis>().with(*tree) : nullptr;
  std::optional<ExecutedValues> values;
  if (ran) {
    auto found = ExecutedValues::create(module, *ran, *tree);
    if (!found) {
      module.emitError("'")
          << executed << "': " << llvm::toString(found.takeError());
      return signalPassFailure();
    }
    values = std::move(*found);
    LDBG() << values->size() << " nodes are placed by what was executed";
  }
  together(
      [&] {
        evidence.emplace(module, *tree, known.get(), sketches,
                         values ? &*values : nullptr);
      },
      [&] { hierarchy = toIR(*tree, paths, &getContext()); });
  keepTorchNN(*hierarchy, keepsTorchNN(module));
  setHierarchy(module, std::move(hierarchy));
  attachEvidence(*tree, paths, known.get(), *evidence);
  getAnalysis<HierarchyAnalysis>().assume(tree, std::move(paths));
  markAnalysesPreserved<HierarchyAnalysis, SketchAnalysis>();
}

/// The tree of the trace or of the first source that has one; null after an
/// error.
std::shared_ptr<const ModuleTree>
AttachHierarchy::chooseTree(std::shared_ptr<const Trace> known,
                            std::shared_ptr<const Executed> ran,
                            std::optional<HierarchySource> source) {
  mlir::ModuleOp module = getOperation();
  if (known && (!source || source == HierarchySource::Trace)) {
    LDBG() << "the tree of the trace has " << known->tree.size() << " modules";
    return {known, &known->tree};
  }
  if (ran && !source) {
    LDBG() << "the tree of the run has " << ran->tree.size() << " modules";
    return {ran, &ran->tree};
  }
  SmallVector<HierarchySource> tried;
  // Prefer the tree in the IR, as it has classes, which locations lack.
  if (!source || source == HierarchySource::Locations)
    tried.push_back(HierarchySource::Hierarchy);
  if (source)
    tried.push_back(*source);
  else
    tried.append({HierarchySource::Metadata, HierarchySource::Names});
  for (HierarchySource from : tried) {
    std::optional<ModuleTree> tree = findTree(module, from);
    LDBG() << "source '" << kSourceNames[size_t(from)] << "' has "
           << (tree ? tree->size() : 0) << " modules";
    if (tree)
      return std::make_shared<ModuleTree>(std::move(*tree));
  }
  module.emitWarning("the model says nothing about its modules: no trace is "
                     "given, and it has no htp.hierarchy, no notes of an "
                     "exporter, no scopes in names; every op belongs to the "
                     "root");
  return std::make_shared<ModuleTree>();
}

void AttachHierarchy::attachFromLocations(const ModuleTree &tree) {
  forEachNode(getOperation(), [&](Operation *op) {
    ++numNodes;
    TagAttr before = getTag(op);
    TagAttr tag = before ? before : tagFromLocation(op, tree);
    // Keep the location: it may hold more than one scope.
    if (tag && !before)
      op->setAttr(kTagAttr, tag);
    numTagged += static_cast<bool>(tag);
  });
}

void AttachHierarchy::attachEvidence(const ModuleTree &tree, PathAttrs &paths,
                                     const Trace *known,
                                     const DirectEvidence &evidence) {
  mlir::ModuleOp module = getOperation();
  size_t nodes = 0, tagged = 0, lost = 0;
  StringAttr firstLost;
  TagWriter tags(tree.size());
  forEachRootedNode(module, [&](Operation *op) {
    ++nodes;
    TagAttr before = getTag(op);
    // A user's decision stands, whatever the evidence.
    if (isGiven(before) && tree.contains(before.getPath())) {
      ++tagged;
      LDBG() << DebugNode{op} << " keeps the user's " << before;
      tags.write(op, withKnownContexts(before, tree), evidence.sources(op));
      return;
    }
    if (isGiven(before) && lost++ == 0)
      firstLost = before.getPathAttr();
    // With a trace, tags of an earlier run do not count.
    TagAttr tag = known ? TagAttr() : before;
    if (!tag || !tree.contains(tag.getPath()))
      tag = evidence.tag(op, paths, tags);
    else
      tag = evidence.revised(op, withKnownContexts(tag, tree), paths, tags);
    LDBG_OS(2, [&](raw_ostream &os) {
      os << "claims on " << DebugNode{op} << ":";
      for (const Claim &claim : evidence.claims(op))
        os << " '" << tree[claim.where.module].path << "' (call "
           << claim.where.call << ", " << claim.reason << ")";
    });
    LDBG_OS([&](raw_ostream &os) {
      os << DebugNode{op};
      if (tag)
        os << (tag == before ? " keeps " : " gets ") << tag;
      else
        os << " has no evidence of its own";
    });
    if (tag) {
      ++tagged;
      tags.write(op, tag, evidence.sources(op));
    } else if (before) {
      op->removeAttr(kTagAttr);
      op->setLoc(stripScopes(op->getLoc()));
    }
  });
  if (lost)
    module.emitWarning() << lost
                         << " overrides of an earlier run name modules "
                            "that are not in the tree, the first is '"
                         << firstLost.getValue() << "'; they are dropped";
  LDBG() << tagged << " of " << nodes << " nodes have evidence of their own, "
         << evidence.getParameters().matched() << " of "
         << evidence.getParameters().total() << " parameters are in the graph";
  if (known)
    dropParameters(module);
  attachParameters(paths, evidence.getParameters());
  numNodes += nodes;
  numTagged += tagged;
  if (known)
    noteFit(evidence.getParameters());
}

/// The modules that may read a parameter. Null if that is as usual: the tags of
/// its readers will tell, and without them the owner reads it.
static ArrayAttr possibleReaders(Value value, const ParameterValue &parameter,
                                 ModuleId owner, PathAttrs &paths) {
  bool isUsual = llvm::any_of(value.getUsers(), getTag) &&
                 (parameter.ambiguous || parameter.modules == ArrayRef(owner));
  if (isUsual || parameter.modules.size() > kMostPossible)
    return {};
  auto readers = llvm::map_to_vector(
      parameter.modules, [&](ModuleId id) -> Attribute { return paths[id]; });
  return ArrayAttr::get(value.getContext(), readers);
}

void AttachHierarchy::attachParameters(PathAttrs &paths,
                                       const ParameterValues &parameters) {
  Builder builder(&getContext());
  llvm::MapVector<Operation *, ArgumentAttrs> ofFunctions;
  for (const auto &[value, parameter] : parameters.all()) {
    auto path = builder.getStringAttr(parameters.path(parameter));
    ArrayAttr users =
        possibleReaders(value, parameter, parameters.owner(parameter), paths);
    LDBG(2) << "value '" << getValueName(value) << "' is parameter " << path;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function =
          cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
      NamedAttrList &attrs = ofFunctions.try_emplace(function, function)
                                 .first->second[argument.getArgNumber()];
      attrs.set(kParameterAttr, path);
      if (users)
        attrs.set(kUsersAttr, users);
    } else if (Operation *op = value.getDefiningOp(); isInitializer(op)) {
      NamedAttrList attrs(op->getDiscardableAttrDictionary());
      attrs.set(kParameterAttr, path);
      if (users)
        attrs.set(kUsersAttr, users);
      op->setDiscardableAttrs(attrs.getDictionary(&getContext()));
    }
  }
  for (auto &[function, attrs] : ofFunctions)
    attrs.store();
}

/// Records counts for --htp-align-trace, which judges how well the trace fits.
void AttachHierarchy::noteFit(const ParameterValues &parameters) {
  numParameters += parameters.matched();
  findHierarchy(getOperation())
      ->setAttr(kMatchedAttr,
                Builder(&getContext())
                    .getDenseI64ArrayAttr({int64_t(parameters.matched()),
                                           int64_t(parameters.total())}));
  if (parameters.misfits())
    getOperation().emitWarning()
        << parameters.misfits()
        << " initializers have the name of a parameter of the trace and "
           "another size: it may be of another model";
}
