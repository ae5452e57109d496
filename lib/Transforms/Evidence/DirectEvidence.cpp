// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the claims on a node in its metadata, names and parameters, and weighs
// them against each other.

#include "DirectEvidence.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

using namespace mlir;

namespace htp {

static constexpr StringLiteral kNameScopes = "pkg.torch.onnx.name_scopes";

DirectEvidence::DirectEvidence(mlir::ModuleOp module, const ModuleTree &tree,
                               const Trace *trace, SketchMatches *sketches,
                               const ExecutedValues *executed)
    : tree(tree), trace(trace), scopes(tree),
      parameters(module, tree, trace, sketches), executed(executed) {
  if (trace)
    traced.emplace(module, *trace, parameters);
  indexRepeatedReaders(module);
  countNotes(module);
  // Resolving the first name with a scope builds the index of scopes, which
  // models without such names do not need. Doing it here overlaps it with other
  // work.
  module->walk([&](Operation *op) {
    return fromNodeName(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

// Reasons do not repeat names, which the op has anyway. All nodes of a module
// can then share one tag, and so can the nodes of equal layers in one function.

/// Whether the value `name` of `op` may be the traced value of that name.
/// Decompositions renumber values: the exported `view_3` may be what was traced
/// as `reshape`, while the traced `view_3` is the value of another call. Shapes
/// tell them apart.
static bool shapesFit(Operation *op, StringRef name, const TraceOp &traced) {
  auto output = llvm::find_if(traced.outputs, [&](const TraceValue &value) {
    return value.name == name;
  });
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || getValueName(result) != name ||
        output == traced.outputs.end() || !output->shape)
      continue;
    if (output->shape->size() != size_t(type.getRank()))
      return false;
    for (auto [size, expected] : llvm::zip(type.getShape(), *output->shape))
      if (size >= 0 && expected >= 0 && size != expected)
        return false;
  }
  return true;
}

/// The traced op that the exporter's notes or the value names point at.
const TraceOp *DirectEvidence::tracedOp(Operation *op) const {
  if (!traced)
    return nullptr;
  if (StringAttr notes = getMetadata(op, kNameScopes))
    if (auto scope = parseExportScope(notes, ""))
      if (const TraceOp *named = traced->named(scope->value);
          named &&
          trace->tree[named->module].path == scope->frames.back().path &&
          shapesFit(op, scope->value, *named))
        return named;
  return traced->find(op);
}

std::optional<Claim> DirectEvidence::fromNotes(Operation *op) const {
  StringAttr notes = getMetadata(op, kNameScopes);
  auto scope = notes ? parseExportScope(notes, "") : std::nullopt;
  if (!scope)
    return std::nullopt;
  const ExportScope::Frame &frame = scope->frames.back();
  std::optional<ModuleId> id = tree.resolve(frame.path);
  if (!id)
    return std::nullopt;
  // The exporter's notes do not count calls; the trace does.
  const TraceOp *named = tracedOp(op);
  int64_t call = named ? named->call : frame.call;
  return Claim{{*id, call}, Ground::Notes, kNameScopes};
}

std::optional<Claim> DirectEvidence::fromNodeName(Operation *op) const {
  StringRef name = getNodeName(op);
  auto where = scopes.resolveNode(name, getOpType(op));
  if (!where)
    return std::nullopt;
  return Claim{*where, Ground::NodeName, "the node's name"};
}

std::optional<Claim> DirectEvidence::fromValueNames(Operation *op) const {
  for (Value result : op->getResults()) {
    StringRef name = getValueName(result);
    if (auto where = scopes.resolveValue(name))
      return Claim{*where, Ground::NameOfValue, "the name of its value"};
  }
  return std::nullopt;
}

bool mayBeFused(Operation *op) {
  StringRef type = getOpType(op);
  return isForeign(op) && plainOperator(type) == type;
}

std::optional<Claim> DirectEvidence::fromTracedNames(Operation *op) const {
  const TraceOp *named = traced ? traced->find(op) : nullptr;
  // A convolution that absorbed a norm makes the norm's value. The name of that
  // value does not place the convolution.
  if (named && isConvolution(op)) {
    const EmissionTable &table = EmissionTable::get();
    if (table.rule(table.canonical(named->kind)).emits(getOpType(op)) !=
        Emits::Main)
      return std::nullopt;
  }
  auto id = named ? tree.find(trace->tree[named->module].path) : std::nullopt;
  if (!id)
    return std::nullopt;
  return Claim{{*id, named->call},
               Ground::TracedName,
               "its value is named like a traced one"};
}

/// The reason for the tag of a node that reads or copies a parameter: how the
/// parameter was recognised.
static StringRef reasonFor(ParameterMatch match, bool copies) {
  switch (match) {
  case ParameterMatch::Name:
    return copies ? "copy of a parameter, by name"
                  : "reads a parameter, by name";
  case ParameterMatch::Content:
    return copies ? "copy of a parameter, by content"
                  : "reads a parameter, by content";
  case ParameterMatch::Values:
    return copies ? "copy of a parameter, by content in another order"
                  : "reads a parameter, by content in another order";
  case ParameterMatch::Sketch:
    return copies ? "copy of a parameter, by a sketch of its content"
                  : "reads a parameter, by a sketch of its content";
  }
  llvm_unreachable("all matches are described");
}

static Ground groundFor(ParameterMatch match) {
  switch (match) {
  case ParameterMatch::Name:
    return Ground::ParameterName;
  case ParameterMatch::Content:
    return Ground::ParameterContent;
  case ParameterMatch::Values:
    return Ground::ParameterValues;
  case ParameterMatch::Sketch:
    return Ground::ParameterSketch;
  }
  llvm_unreachable("all matches are grounds");
}

/// `where` is the module in which the parameter places the node.
static Claim fromParameter(const ParameterValue &parameter, ModuleCall where,
                           bool copies) {
  return Claim{where, groundFor(parameter.match),
               reasonFor(parameter.match, copies)};
}

std::string DirectEvidence::readerKey(Operation *op,
                                      const ParameterValue &parameter) const {
  return (parameters.identity(parameter) + " " + getOpType(op)).str();
}

void DirectEvidence::indexRepeatedReaders(mlir::ModuleOp module) {
  forEachRootedNode(module, [&](Operation *op) {
    if (isCopy(op))
      return;
    for (Value operand : op->getOperands()) {
      const ParameterValue *parameter = parameters.find(operand);
      if (parameter && parameter->modules.size() == 1 &&
          tree[parameter->modules.front()].calls > 1)
        repeatedReaders[readerKey(op, *parameter)].push_back(op);
    }
  });
}

/// The call in which `op` reads the parameter, or 0 if it is not known. It is
/// known if as many nodes of this type read the parameter as the module has
/// calls: they are in the order of the calls.
int64_t DirectEvidence::callOf(Operation *op, const ParameterValue &parameter,
                               ModuleId module) const {
  int64_t calls = tree[module].calls;
  if (calls <= 1)
    return 0;
  auto it = repeatedReaders.find(readerKey(op, parameter));
  if (it == repeatedReaders.end() ||
      it->second.size() != static_cast<size_t>(calls))
    return 0;
  return llvm::find(it->second, op) - it->second.begin();
}

/// The claim from the parameters that the node reads, which must all be of one
/// module. A fused node makes no such claim: it belongs to its last op, which
/// need not be the one with parameters.
std::optional<Claim> DirectEvidence::fromParameters(Operation *op) const {
  if (mayBeFused(op))
    return std::nullopt;
  if (isCopy(op))
    for (Value result : op->getResults())
      if (const ParameterValue *parameter = parameters.find(result))
        return parameter->modules.size() == 1
                   ? std::optional(fromParameter(
                         *parameter, {parameter->modules.front(), 0},
                         /*copies=*/true))
                   : std::nullopt;
  std::optional<Claim> answer;
  for (Value operand : op->getOperands()) {
    const ParameterValue *parameter = parameters.find(operand);
    if (!parameter)
      continue;
    std::optional<ModuleId> reader =
        parameters.readerFor(*parameter, getOpType(op));
    if (!reader || (answer && answer->where.module != *reader))
      return std::nullopt;
    if (!answer)
      answer =
          fromParameter(*parameter, {*reader, callOf(op, *parameter, *reader)},
                        /*copies=*/false);
  }
  return answer;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Whether the notes and the parameters of a node can both be right.
bool DirectEvidence::agree(Operation *op, const Claim &notes,
                           const Claim &parameter) const {
  if (tree[notes.where.module].canonical ==
      tree[parameter.where.module].canonical)
    return true;
  // Without a trace, tied parameters are known by one name only, so the noted
  // module may own the parameter under another name. That is assumed for a leaf
  // without parameters, and for a leaf if the owner has nodes of its own
  // elsewhere.
  if (!trace && tree.children(notes.where.module).empty() &&
      (tree[notes.where.module].parameters.empty() ||
       noted.test(parameter.where.module)))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return parameters.find(operand) &&
           parameters.mayStandFor(operand, notes.where.module);
  });
}

void DirectEvidence::countNotes(mlir::ModuleOp module) {
  struct Pair {
    Operation *op;
    Claim notes, parameter;
  };
  std::vector<Pair> pairs;
  noted.resize(tree.size());
  forEachRootedNode(module, [&](Operation *op) {
    std::optional<Claim> notes = fromNotes(op);
    if (!notes)
      return;
    noted.set(notes->where.module);
    // Notes that name what a convolution absorbed are not wrong.
    if (fromAbsorbingWeight(op, *notes))
      return;
    if (std::optional<Claim> parameter = fromParameters(op))
      pairs.push_back({op, *notes, *parameter});
  });
  for (const auto &[op, notes, parameter] : pairs)
    ++(agree(op, notes, parameter) ? notesRight : notesWrong);
}

bool DirectEvidence::notesAreReliable() const {
  constexpr size_t kOften = 5; // more than one in five
  return notesWrong * kOften <= notesRight + notesWrong;
}

/// The claim for a convolution that absorbed the norm after it. The exporter's
/// notes name the norm, but the node is still the convolution. Its weight has
/// other contents now but has kept its name.
std::optional<Claim>
DirectEvidence::fromAbsorbingWeight(Operation *op, const Claim &notes) const {
  if (!isConvolution(op) || op->getNumOperands() < 2)
    return std::nullopt;
  auto weight = tree.findParameter(getValueName(op->getOperand(1)));
  if (!weight || !weight->parameter->tied.empty() ||
      tree.isAncestorOrSelf(notes.where.module, weight->module))
    return std::nullopt;
  return Claim{{weight->module, notes.where.call},
               Ground::AbsorbingParameter,
               "reads the weight of a convolution, which took in what the "
               "exporter notes"};
}

/// Weighs the notes of a node against its parameters. The exporter's notes can
/// be wrong if it runs a part of the model in another way (control flow,
/// autocast); parameters stay right. Returns whether the notes lose.
bool DirectEvidence::contradict(Operation *op, std::optional<Claim> &notes,
                                std::optional<Claim> &parameter) const {
  if (!notes || (parameter && agree(op, *notes, *parameter)))
    return false;
  if (!parameter) {
    if (!notesAreReliable())
      notes->ground = Ground::UnreliableNotes;
    return false;
  }
  // The parent of the owner may read the parameter itself.
  bool mayRead = !trace && notesAreReliable() &&
                 tree[parameter->where.module].parent == notes->where.module;
  if (mayRead)
    return false; // and --htp-resolve-contamination doubts it
  parameter->ground =
      trace ? Ground::ParameterOverNotes : Ground::OwnerOverNotes;
  return true;
}

SmallVector<Claim, 3> DirectEvidence::claims(Operation *op) const {
  SmallVector<Claim, 3> all;
  auto add = [&](std::optional<Claim> claim) {
    if (claim)
      all.push_back(*claim);
  };
  std::optional<Claim> notes = fromNotes(op), parameter = fromParameters(op);
  std::optional<Claim> absorbing =
      notes ? fromAbsorbingWeight(op, *notes) : std::nullopt;
  add(absorbing);
  bool notesLose = contradict(op, notes, parameter);
  bool notesLead =
      notes && !notesLose && notes->ground != Ground::UnreliableNotes;
  if (notesLose)
    add(parameter);
  if (notesLead)
    add(notes);
  // An optimizer names a new node after one of the nodes that it replaces. The
  // value keeps the name of the last of them.
  std::optional<Claim> node = fromNodeName(op), value = fromValueNames(op);
  if (node && value && !(node->where == value->where)) {
    // The exception is a node that is what its own name says, and absorbed what
    // came after it: a convolution the norm, or a product the Relu that a
    // quantizer took into a range.
    bool isItself =
        isConvolution(op) ||
        (parameter && parameter->where.module == node->where.module);
    if (isItself) {
      node->ground = Ground::AbsorbingName;
    } else {
      value->ground = Ground::DisputedValueName;
      std::swap(node, value);
    }
  }
  // Without a scope in the value's name (a result of the model has none) the
  // node's name may be that of any node that was fused, often the first.
  if (node && !value && mayBeFused(op))
    node->ground = Ground::NameOfFirst;
  add(node);
  add(value);
  add(fromTracedNames(op));
  if (!notesLose)
    add(parameter);
  if (!notesLead)
    add(notes);
  // What was executed is weighed against the others by how often each has been
  // right.
  if (auto ran = executed ? executed->find(op) : std::nullopt) {
    auto *weaker = llvm::find_if(all, [&](const Claim &claim) {
      return worth(claim.ground) < worth(ran->ground);
    });
    all.insert(weaker, *ran);
  }
  return all;
}

/// Makes a tag of the strongest claim. The others become contexts, with the
/// confidence that is left: they can be right only if the first one is wrong.
TagAttr DirectEvidence::tag(Operation *op, PathAttrs &paths,
                            TagWriter &tags) const {
  SmallVector<Claim, 3> all = claims(op);
  if (all.empty())
    return {};
  MLIRContext *context = op->getContext();
  const Claim &first = all.front();
  double confidence = worth(first.ground);
  // In this file such notes are often wrong, whatever confidence was measured
  // in general.
  if (first.ground == Ground::UnreliableNotes)
    confidence = std::min(confidence, kGivesWay);
  SmallVector<ContextAttr> contexts;
  SmallVector<ModuleId> named = {first.where.module};
  for (const Claim &claim : llvm::drop_begin(all)) {
    if (llvm::is_contained(named, claim.where.module))
      continue;
    named.push_back(claim.where.module);
    contexts.push_back(ContextAttr::get(context, tree[claim.where.module].path,
                                        evidenceOf(claim.ground),
                                        doubt(confidence)));
  }
  auto [module, call] = first.where;
  recordGround(op, first.ground);
  TagAttr tag = tags.make(module, paths[module], call, evidenceOf(first.ground),
                          confidence, first.reason);
  return contexts.empty() ? tag : tag.withContexts(contexts);
}

TagAttr DirectEvidence::revised(Operation *op, TagAttr before, PathAttrs &paths,
                                TagWriter &tags) const {
  std::optional<Claim> ran = executed ? executed->find(op) : std::nullopt;
  double confidence = ran ? worth(ran->ground) : 0;
  if (confidence <= before.getConfidenceValue())
    return before;
  auto [module, call] = ran->where;
  TagAttr tag = tags.make(module, paths[module], call, Evidence::Executed,
                          confidence, ran->reason);
  recordGround(op, ran->ground);
  if (tag.getPathAttr() == before.getPathAttr())
    return tag.withContexts(before.getContexts());
  return tag.withContexts(ContextAttr::get(op->getContext(), before.getPath(),
                                           before.getEvidence(),
                                           doubt(confidence)));
}

SmallVector<Location, 1> DirectEvidence::sources(Operation *op) const {
  std::optional<SourceLine> line;
  if (StringAttr stack = getMetadata(op, kStackTraceKey))
    line = lastSourceLine(stack);
  if (const TraceOp *named = line ? nullptr : tracedOp(op);
      named && !named->file.empty())
    line = SourceLine{named->file, static_cast<unsigned>(named->line)};
  if (!line)
    return {};
  return {FileLineColLoc::get(op->getContext(), line->file, line->line, 0)};
}

} // namespace htp
