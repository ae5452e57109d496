// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-extract: turns one module into a complete model.
//
//   func.func @main(%x) { %0 = "d.a"(%x) {tag "a"}; %1 = "d.b"(%0, %w) {tag
//   "b"}; … }
// becomes, for module=b,
//   func.func @main(%0) { %w = …; %1 = "d.b"(%0, %w) {tag ""}; return %1 }

#include "DebugOutput.h"
#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/ModulePattern.h"
#include "HTP/Hierarchy/Subtree.h"
#include "HTP/Transforms/Passes.h"
#include "Outlining/ModuleCalls.h"

#include "mlir/IR/IRMapping.h"

#include <cassert>

#define DEBUG_TYPE "htp-extract"

namespace htp {
#define GEN_PASS_DEF_HTPEXTRACT
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

/// Whether a module gets a copy of `op` rather than owning it.
bool isHeld(Operation *op) { return isConstant(op) || isParameter(op); }

/// Extracts one call of a module from a block.
class Extraction {
public:
  Extraction(const TaggedBlock &whole, const ModuleTree &tree,
             const CallNumbers &numbers, ModuleCall of)
      : whole(whole), tree(tree),
        paths(tree, whole.block->getParentOp()->getContext()), numbers(numbers),
        of(of) {
    findMembers();
  }

  bool empty() const { return members.empty(); }
  size_t size() const { return members.size() + constants.size(); }

  /// Adds the function to `target`, with the name, kind and annotations of
  /// `original`, which it replaces.
  void build(func::FuncOp original, mlir::ModuleOp target);

private:
  void findMembers();
  void findBorder();
  void retag(Operation *op);
  void retagParameter(Operation *op);

  const TaggedBlock &whole;
  const ModuleTree &tree;
  PathAttrs paths;
  const CallNumbers &numbers;
  const ModuleCall of;
  llvm::DenseSet<Operation *> isMember;
  SmallVector<Operation *> members; ///< in order, without constants
  /// Constants and parameters that members read.
  SmallVector<Operation *> constants;
  SmallVector<Value> inputs, results;
};

struct Extract : htp::impl::HTPExtractBase<Extract> {
  using HTPExtractBase::HTPExtractBase;
  void runOnOperation() override;

private:
  FailureOr<func::FuncOp> findModel();
  LogicalResult extractOne(ModuleId id, func::FuncOp model);
  LogicalResult extractAll(ArrayRef<ModuleId> ids, func::FuncOp model);
  LogicalResult explainEmpty(ModuleId id, const CallNumbers &numbers);

  ModuleTree tree;
  std::optional<TaggedBlock> whole;
};

} // namespace

//===----------------------------------------------------------------------===//
// Extraction
//===----------------------------------------------------------------------===//

void Extraction::findMembers() {
  // With a single group, the partition only finds the ops that lie between the
  // module's ops. Splits do not matter, as all parts go into one function.
  GroupTree groups;
  const unsigned group = groups.add(0);
  std::vector<unsigned> groupOf;
  for (auto [op, call] : llvm::zip(whole.ops, whole.calls))
    groupOf.push_back(!isHeld(op) &&
                              tree.isAncestorOrSelf(of.module, call.module) &&
                              numbers.callOf(of.module, call) == of.call
                          ? group
                          : 0);
  if (of.module == ModuleTree::root() && of.call == 0)
    std::fill(groupOf.begin(), groupOf.end(), group);
  assert(whole.calls.size() == whole.ops.size() && "tags must be read first");
  Partition cut = partition(whole.graph, groups, std::move(groupOf), 1);
  for (const Part &part : ArrayRef(cut.parts).drop_front())
    for (unsigned op : part.members)
      if (!isHeld(whole.ops[op]))
        isMember.insert(whole.ops[op]);
  for (Operation *op : whole.ops)
    if (isMember.contains(op))
      members.push_back(op);
  findBorder();
  LDBG() << "'" << tree[of.module].path << "' call " << of.call << ": "
         << members.size() << " ops (" << cut.pulled << " pulled inside), "
         << constants.size() << " constants and parameters, " << inputs.size()
         << " inputs, " << results.size() << " results";
  for (Operation *op : members)
    LDBG(2) << "  " << DebugNode{op};
}

void Extraction::findBorder() {
  llvm::DenseSet<Value> seen;
  llvm::DenseSet<Operation *> used;
  auto topLevel = [&](Operation *op) {
    return whole.block->findAncestorOpInBlock(*op);
  };
  auto readFrom = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && producer->getBlock() == whole.block) {
        if (isHeld(producer))
          used.insert(producer);
        else if (!isMember.contains(producer) && seen.insert(operand).second)
          inputs.push_back(operand);
      } else if (auto argument = dyn_cast<BlockArgument>(operand);
                 argument && argument.getOwner() == whole.block &&
                 seen.insert(operand).second) {
        inputs.push_back(operand);
      }
    }
  };
  SmallVector<Value> unused;
  for (Operation *op : members) {
    op->walk<WalkOrder::PreOrder>(readFrom);
    for (Value result : op->getResults()) {
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !isMember.contains(topLevel(user));
          }))
        results.push_back(result);
      else if (result.use_empty() && !isa<NoneType>(result.getType()))
        unused.push_back(result);
    }
  }
  // If nothing outside reads the module's results, return its unused values.
  if (results.empty())
    results = std::move(unused);
  // Backward, as a copy also needs the value it copies.
  for (Operation *op : llvm::reverse(whole.ops))
    if (used.contains(op))
      readFrom(op);
  for (Operation *op : whole.ops)
    if (used.contains(op))
      constants.push_back(op);
}

/// Makes tags relative to the module. Ops pulled in from elsewhere, and
/// constants of other modules, belong to the module itself.
void Extraction::retag(Operation *op) {
  MLIRContext *context = op->getContext();
  const std::string &base = tree[of.module].path;
  op->walk([&](Operation *inner) {
    retagParameter(inner);
    std::optional<ModuleCall> call = readModuleCall(inner, paths);
    if (!call)
      return;
    TagAttr tag = getTag(inner);
    std::optional<std::string> path = pathWithin(base, tree[call->module].path);
    int64_t number =
        path ? call->call - numbers.firstCall(of, call->module) : 0;
    if (!tag) {
      inner->setLoc(attachScope(
          inner->getLoc(), {path.value_or(""), std::max<int64_t>(0, number)}));
      return;
    }
    SmallVector<ContextAttr> contexts;
    for (ContextAttr other : tag.getContexts())
      if (auto within = pathWithin(base, other.getPath()))
        contexts.push_back(ContextAttr::get(
            context, *within, other.getEvidence(), other.getConfidenceValue()));
    setTag(inner,
           TagAttr::get(context, path.value_or(""),
                        std::max<int64_t>(0, number), tag.getEvidence(),
                        tag.getConfidenceValue(), tag.getReason(), contexts));
  });
}

void Extraction::retagParameter(Operation *op) {
  const std::string &base = tree[of.module].path;
  Builder builder(op->getContext());
  if (auto path = op->getAttrOfType<StringAttr>(kParameterAttr)) {
    if (std::optional<std::string> within = pathWithin(base, path))
      op->setAttr(kParameterAttr, builder.getStringAttr(*within));
    else
      op->removeAttr(kParameterAttr);
  }
  if (auto users = op->getAttrOfType<ArrayAttr>(kUsersAttr)) {
    SmallVector<Attribute> inside;
    for (auto user : users.getAsRange<StringAttr>())
      if (std::optional<std::string> within = pathWithin(base, user))
        inside.push_back(builder.getStringAttr(*within));
    op->setAttr(kUsersAttr, builder.getArrayAttr(inside));
  }
}

void Extraction::build(func::FuncOp original, mlir::ModuleOp target) {
  assert(!empty() && "there is nothing to extract");
  Builder builder(target.getContext());
  auto nameOf = [&](Value value) {
    NamedAttrList attributes;
    if (auto argument = dyn_cast<BlockArgument>(value))
      attributes =
          NamedAttrList(original.getArgAttrDict(argument.getArgNumber()));
    else if (StringRef name = getValueName(value); !name.empty())
      attributes.set("onnx.name", builder.getStringAttr(name));
    return attributes.getDictionary(target.getContext());
  };
  auto type = builder.getFunctionType(TypeRange(ValueRange(inputs)),
                                      TypeRange(ValueRange(results)));
  auto function =
      func::FuncOp::create(original.getLoc(), original.getSymName(), type);
  function->setDiscardableAttrs(original->getDiscardableAttrDictionary());
  function.setVisibility(original.getVisibility());
  function.setAllArgAttrs(llvm::map_to_vector(inputs, nameOf));
  function.setAllResultAttrs(llvm::map_to_vector(results, nameOf));

  Block *body = function.addEntryBlock();
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  for (auto *list : {&constants, &members})
    for (Operation *op : *list) {
      body->push_back(op->clone(mapping));
      retag(&body->back());
    }
  Operation *terminator = whole.block->getTerminator();
  OperationState state(terminator->getLoc(), terminator->getName());
  for (Value result : results)
    state.addOperands(mapping.lookup(result));
  body->push_back(Operation::create(state));
  target.push_back(function);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Finds the function that has the tags.
FailureOr<func::FuncOp> Extract::findModel() {
  func::FuncOp model, untagged;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function->hasAttr(kModuleAttr))
      return function.emitError(
          "is an outlined module: run --htp-inline first");
    if (function.isExternal() || !function.getBody().hasOneBlock())
      continue;
    bool hasTag = llvm::any_of(function.front(), [](Operation &op) {
      return getTag(&op) || !findScopes(op.getLoc()).empty();
    });
    if (hasTag && !model)
      model = function;
    if (!untagged)
      untagged = function;
  }
  if (!model)
    model = untagged; // without tags, which reading it reports
  if (!model)
    return emitError(getOperation().getLoc(),
                     "has no function to extract a module from");
  return model;
}

/// Reports why a module has no ops.
LogicalResult Extract::explainEmpty(ModuleId id, const CallNumbers &numbers) {
  const htp::Module &module = tree[id];
  int64_t calls = 0, ops = 0;
  for (auto [op, opCall] : llvm::zip(whole->ops, whole->calls))
    if (!isHeld(op) && tree.isAncestorOrSelf(id, opCall.module)) {
      calls = std::max(calls, numbers.callOf(id, opCall) + 1);
      ++ops;
    }
  InFlightDiagnostic error = emitError(getOperation().getLoc(), "module '")
                             << module.path << "' ";
  if (ops)
    return error << "has no call " << call.getValue() << ": its calls are 0 to "
                 << calls - 1;
  error << "owns no ops, so there is nothing to extract";
  if (!module.parameters.empty())
    error << ": it only holds " << module.parameters.size() << " parameter"
          << (module.parameters.size() > 1 ? "s" : "") << ", '"
          << module.parameters.front().name << "'"
          << (module.parameters.size() > 1 ? " first" : "");
  else if (module.calls == 0)
    error << ": its forward never ran";
  return error;
}

LogicalResult Extract::extractOne(ModuleId id, func::FuncOp model) {
  CallNumbers numbers(tree, whole->calls);
  Extraction extraction(*whole, tree, numbers, {id, call});
  if (extraction.empty())
    return explainEmpty(id, numbers);
  extraction.build(model, getOperation());
  model.erase();
  toIR(subtree(tree, id), getOperation());
  ++numModules;
  numOps += extraction.size();
  return success();
}

LogicalResult Extract::extractAll(ArrayRef<ModuleId> ids, func::FuncOp model) {
  CallNumbers numbers(tree, whole->calls);
  SmallVector<Operation *> rest;
  for (Operation &op : *getOperation().getBody())
    if (&op != model && !isa<HierarchyOp>(op))
      rest.push_back(&op);
  SmallVector<mlir::ModuleOp> extracted;
  for (ModuleId id : ids) {
    Extraction extraction(*whole, tree, numbers, {id, call});
    if (extraction.empty())
      continue;
    StringRef name = tree[id].path;
    auto target = mlir::ModuleOp::create(
        model.getLoc(), name.empty() ? StringRef(tree[id].className) : name);
    target->setDiscardableAttrs(getOperation()->getDiscardableAttrDictionary());
    extraction.build(model, target);
    for (Operation *op : rest)
      target.push_back(op->clone());
    toIR(subtree(tree, id), target);
    extracted.push_back(target);
    ++numModules;
    numOps += extraction.size();
  }
  if (extracted.empty())
    return emitError(getOperation().getLoc(), "no module that matches '")
           << pattern.getValue() << "' owns ops"
           << (call ? " in that call" : "");
  model.erase();
  for (Operation *op : rest)
    op->erase();
  if (HierarchyOp hierarchy = findHierarchy(getOperation()))
    hierarchy.erase();
  for (mlir::ModuleOp module : extracted)
    getOperation().push_back(module);
  return success();
}

void Extract::runOnOperation() {
  FailureOr<HierarchyOp> hierarchy = requireHierarchy(getOperation());
  if (failed(hierarchy))
    return signalPassFailure();
  tree = fromIR(*hierarchy);
  llvm::Expected<std::vector<ModuleId>> ids = findModules(tree, pattern);
  if (!ids) {
    emitError(getOperation().getLoc(), llvm::toString(ids.takeError()));
    return signalPassFailure();
  }
  FailureOr<func::FuncOp> model = findModel();
  if (failed(model) || failed(CallGraph(getOperation()).checkRecursion()))
    return signalPassFailure();
  FailureOr<TaggedBlock> tagged = TaggedBlock::read(model->front(), tree);
  if (failed(tagged))
    return signalPassFailure();
  whole = std::move(*tagged);
  if (failed(isModulePattern(pattern) ? extractAll(*ids, *model)
                                      : extractOne(ids->front(), *model)))
    signalPassFailure();
  whole.reset();
}
