// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rebuilds a block from its parts, innermost first: moves ops into new bodies,
// shares equal ones, and records how calls differ.

#include "OutlineBuilder.h"
#include "BodyEquivalence.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "StatedTypes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#include <cassert>

#define DEBUG_TYPE "htp-outline"

using namespace mlir;

namespace htp {

/// Whether `block` is `body` or nested in it.
static bool isInside(Block *block, Block *body) {
  while (block && block != body) {
    Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return block == body;
}

/// Replaces operands of ops in `body`. Walks the body rather than the values'
/// uses, as a mask may have uses in each of ten thousand layers.
static void replaceInside(Block *body,
                          const llvm::DenseMap<Value, Value> &replacements) {
  if (replacements.empty())
    return;
  body->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Value replacement = replacements.lookup(operand.get()))
        operand.set(replacement);
  });
}

static void replaceOutside(Block *body, ArrayRef<Value> values,
                           ValueRange replacements) {
  for (auto [value, replacement] : llvm::zip(values, replacements))
    Value(value).replaceUsesWithIf(replacement, [&](OpOperand &use) {
      return !isInside(use.getOwner()->getBlock(), body);
    });
}

OutlineBuilder::OutlineBuilder(mlir::ModuleOp module, const ModuleTree &tree,
                               PathAttrs &paths, OutlineForm form, bool share)
    : module(module), tree(tree), paths(paths), form(form), share(share),
      builder(module.getContext()), symbols(module) {}

/// All parts except the root, nested parts before enclosing ones and otherwise
/// in order, so that a function gets the body of its first call.
static std::vector<unsigned> innermostFirst(ArrayRef<Part> parts) {
  std::vector<unsigned> order;
  SmallVector<std::pair<unsigned, size_t>> stack{{0, 0}};
  while (!stack.empty()) {
    auto &[part, next] = stack.back();
    if (next == parts[part].items.size()) {
      if (part)
        order.push_back(part);
      stack.pop_back();
      continue;
    }
    Part::Item item = parts[part].items[next++];
    if (item.isPart)
      stack.push_back({item.index, 0});
  }
  return order;
}

LogicalResult OutlineBuilder::build(const TaggedBlock &block,
                                    ArrayRef<Part> parts,
                                    ArrayRef<ModuleCall> groupCalls) {
  assert(!parts.empty() && "part 0 is the whole block");
  assert(llvm::all_of(parts,
                      [&](const Part &part) {
                        return part.group < groupCalls.size();
                      }) &&
         "each group is a module call");
  tagged = &block;
  calls = groupCalls;
  callOfPart.assign(parts.size(), nullptr);
  if (failed(checkNames(parts)))
    return failure();
  if (parts.size() == 1) // nothing becomes a function: all stays as it is
    return success();
  recordPositions();
  absentValues.clear();
  hasNames = false;
  places.clear();
  int64_t place = 0;
  for (auto [op, absent] : llvm::zip(tagged->ops, tagged->absent)) {
    places.push_back(place);
    if (absent)
      absentValues.try_emplace(op, absentValues.size());
    else
      ++place;
    hasNames = hasNames || op->hasAttr(kOutputNamesAttr);
  }
  for (unsigned part : innermostFirst(parts))
    callOfPart[part] = buildPart(parts[part]);
  restoreOrder(parts.front());
  return success();
}

/// Records the file positions of nodes (if the file was not in topological
/// order) on the function around the flat block, as they are meaningless in
/// outlined functions.
void OutlineBuilder::recordPositions() {
  SmallVector<int64_t> positions;
  bool complete = true;
  for (Operation *op : tagged->ops) {
    auto position = op->getAttrOfType<IntegerAttr>(kPositionAttr);
    if (position)
      positions.push_back(position.getInt());
    op->removeAttr(kPositionAttr);
    complete = complete && (position || !isNode(op));
  }
  if (complete && !positions.empty())
    tagged->block->getParentOp()->setAttr(
        kPositionsAttr, encodeOrder(module.getContext(), positions));
}

/// Sorts the ops that stay in the block into the order of the root part.
void OutlineBuilder::restoreOrder(const Part &root) {
  Operation *terminator = tagged->block->getTerminator();
  SmallVector<int64_t> left;
  for (Part::Item item : root.items) {
    if (item.isPart) {
      tagged->block->getOperations().insert(Block::iterator(terminator),
                                            callOfPart[item.index]);
      continue;
    }
    Operation *op = tagged->ops[item.index];
    op->moveBefore(terminator);
    if (tagged->absent[item.index])
      op->setAttr(kPlaceAttr, builder.getI64IntegerAttr(places[item.index]));
    else
      left.push_back(places[item.index]);
  }
  if (!llvm::is_sorted(left))
    tagged->block->getParentOp()->setAttr(
        kOrderAttr, encodeOrder(module.getContext(), left));
}

/// Moves the ops and calls of `part` into `body`.
void OutlineBuilder::fill(Block *body, const Part &part) {
  for (Part::Item item : part.items) {
    assert((!item.isPart || callOfPart[item.index]) &&
           "nested parts are built before those around them");
    if (item.isPart)
      body->push_back(callOfPart[item.index]);
    else
      tagged->ops[item.index]->moveBefore(body, body->end());
  }
}

OutlineBuilder::Border OutlineBuilder::findBorder(Block *body) {
  Border border;
  llvm::DenseSet<Value> seen;
  auto readFrom = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isInside(operand.getParentBlock(), body) &&
          seen.insert(operand).second)
        border.inputs.push_back(operand);
  };
  for (Operation &op : *body) {
    if (op.getNumRegions() == 0)
      readFrom(&op);
    else
      op.walk<WalkOrder::PreOrder>(readFrom);
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !isInside(user->getBlock(), body);
          }))
        border.results.push_back(result);
  }
  return border;
}

/// Sorts inputs: activations in order of use, then parameters in tree order,
/// then other constants.
void OutlineBuilder::sortInputs(SmallVectorImpl<Value> &inputs, ModuleId near) {
  using Key = std::tuple<unsigned, ModuleId, size_t, size_t>;
  auto keyOf = [&](Value value, size_t use) -> Key {
    Operation *op = value.getDefiningOp();
    bool held = isParameter(value);
    if (!held && !(op && isConstant(op)))
      return {0, 0, 0, use};
    auto found = held ? tree.findParameter(parameterPath(value, tree), near)
                      : std::nullopt;
    if (!found)
      return {held ? 2 : 3, 0, 0, use};
    near = found->module;
    const std::vector<Parameter> &siblings = tree[found->module].parameters;
    return {1, found->module, found->parameter - siblings.data(), use};
  };
  SmallVector<std::pair<Key, Value>> keyed;
  for (auto [use, input] : llvm::enumerate(inputs))
    keyed.push_back({keyOf(input, use), input});
  llvm::sort(keyed, llvm::less_first());
  for (auto [input, entry] : llvm::zip(inputs, keyed))
    input = entry.second;
}

/// Gives each body its own placeholders for absent values, rather than passing
/// them as operands.
void OutlineBuilder::copyAbsentValues(Block *body,
                                      SmallVectorImpl<Value> &inputs) {
  llvm::DenseMap<Value, Value> copies;
  llvm::erase_if(inputs, [&](Value input) {
    Operation *op = input.getDefiningOp();
    auto it = op ? absentValues.find(op) : absentValues.end();
    if (it == absentValues.end())
      return false;
    Operation *copy = op->clone();
    body->push_front(copy);
    copy->setAttr(kCopyAttr, builder.getI64IntegerAttr(it->second));
    copies[input] = copy->getResult(cast<OpResult>(input).getResultNumber());
    return true;
  });
  replaceInside(body, copies);
}

/// Sets scope and name of a call, and the attributes that inlining needs.
void OutlineBuilder::annotate(Operation *call, const Part &part,
                              ArrayRef<Value> results,
                              OriginalsAttr originals) {
  ModuleCall of = calls[part.group];
  StringAttr path = paths[of.module], name = path;
  if (of.call)
    name = builder.getStringAttr(callName(path, of.call));
  if (part.ordinal)
    name = builder.getStringAttr(name.getValue() + "/" + Twine(part.ordinal));
  SmallVector<int64_t> own;
  for (Part::Item item : part.items)
    if (!item.isPart)
      own.push_back(places[item.index]);
  MLIRContext *context = module.getContext();
  NamedAttrList attributes;
  attributes.append(kTagAttr, TagAttr::get(path, of.call));
  attributes.append(kOrderAttr, encodeOrder(context, own));
  if (originals)
    attributes.append(kOriginalsAttr, originals);
  if (hasNames) {
    auto names = llvm::map_to_vector(results, [&](Value value) -> Attribute {
      StringAttr name = getValueNameAttr(value);
      return name ? name : builder.getStringAttr("");
    });
    attributes.append(kNodeNameAttr, name);
    attributes.append(kOutputNamesAttr, builder.getArrayAttr(names));
  }
  call->setDiscardableAttrs(attributes.getDictionary(context));
  call->setLoc(attachScope(NameLoc::get(name), {path, of.call, path}));
}

Operation *OutlineBuilder::buildPart(const Part &part) {
  auto body = std::make_unique<Block>();
  fill(body.get(), part);
  ++numCalls;
  if (form == OutlineForm::Region)
    return buildRegion(part, std::move(body));
  return buildFunction(part, std::move(body));
}

Operation *OutlineBuilder::buildRegion(const Part &part,
                                       std::unique_ptr<Block> owned) {
  Block *body = owned.release();
  Border border = findBorder(body);
  ModuleCall of = calls[part.group];
  auto region = RegionOp::create(builder, builder.getUnknownLoc(),
                                 TypeRange(ValueRange(border.results)),
                                 tree[of.module].path, of.call);
  region.getContent().push_back(body);
  annotate(region, part, border.results);
  replaceOutside(body, border.results, region.getResults());
  OpBuilder atEnd = OpBuilder::atBlockEnd(body);
  YieldOp::create(atEnd, region.getLoc(), border.results);
  return region.getOperation();
}

static bool isOfONNX(Operation &op) {
  return op.getName().getDialectNamespace() == "onnx";
}

/// Whether the block is an ONNX graph. Its terminator does not tell, as
/// onnx-mlir uses func.return.
bool OutlineBuilder::isONNX() const {
  return llvm::any_of(*tagged->block, isOfONNX);
}

/// Whether the terminator may return values of less specific types than the
/// function's. func.return requires equal types.
bool OutlineBuilder::hasLooseTypes() const {
  return isOfONNX(tagged->block->back());
}

/// Adds what a model-local ONNX function needs: a domain, and the types of its
/// values.
void OutlineBuilder::describeForONNX(func::FuncOp function, Block *body,
                                     const Border &border) {
  StringRef root = tree[ModuleTree::root()].className;
  function->setAttr(
      "onnx.function_domain",
      builder.getStringAttr("htp." + (root.empty() ? "model" : root)));
  SmallVector<StringRef> names;
  auto addName = [&](Value value) {
    if (StringRef name = getValueName(value);
        !name.empty() && !isa<NoneType>(value.getType()))
      names.push_back(name);
  };
  llvm::for_each(border.inputs, addName);
  for (Operation &op : *body)
    llvm::for_each(op.getResults(), addName);
  function->setAttr("onnx.value_info", builder.getStrArrayAttr(names));
}

/// A location that names an argument after the parameter's path within the
/// module, or after the end of the value's name. --mlir-use-nameloc-as-prefix
/// prints it.
Location OutlineBuilder::argumentLoc(Value input, StringRef modulePath) {
  StringRef parameter = parameterPath(input, tree);
  std::string name = ModuleFrame(modulePath).relative(parameter);
  if (parameter.empty())
    name = getValueName(input).rsplit('/').second.str();
  if (name.empty())
    name = getValueName(input).str();
  if (name.empty())
    return input.getLoc();
  return NameLoc::get(builder.getStringAttr(StringRef(name).ltrim('/')),
                      input.getLoc());
}

/// Adds arguments for the inputs of `body` and a terminator for its results.
void OutlineBuilder::close(Block *body, const Border &border) {
  llvm::DenseMap<Value, Value> arguments;
  for (Value input : border.inputs)
    arguments[input] = body->addArgument(input.getType(), input.getLoc());
  replaceInside(body, arguments);
  // The same kind of terminator as in the outer block: func.return,
  // onnx.Return, …
  OperationState state(builder.getUnknownLoc(),
                       tagged->block->getTerminator()->getName());
  state.addOperands(border.results);
  body->push_back(Operation::create(state));
}

/// Creates a private function, not in the module yet, from `body`.
func::FuncOp OutlineBuilder::makeFunction(const Part &part,
                                          std::unique_ptr<Block> body,
                                          const Border &border) {
  assert(body && !body->empty() && "close() adds at least a terminator");
  auto nameAttribute = [&](Value value) {
    StringRef name = getValueName(value);
    NamedAttrList attributes;
    if (!name.empty())
      attributes.set(kValueNameAttr, builder.getStringAttr(name));
    return attributes.getDictionary(module.getContext());
  };
  auto type = builder.getFunctionType(TypeRange(ValueRange(border.inputs)),
                                      TypeRange(ValueRange(border.results)));
  StringRef path = tree[calls[part.group].module].path;
  Location loc = NameLoc::get(builder.getStringAttr(path));
  auto function = func::FuncOp::create(loc, "outlined", type);
  function.setPrivate();
  function->setAttr(kModuleAttr, builder.getStringAttr(path));
  if (isONNX())
    describeForONNX(function, body.get(), border);
  function.setAllArgAttrs(llvm::map_to_vector(border.inputs, nameAttribute));
  function.setAllResultAttrs(
      llvm::map_to_vector(border.results, nameAttribute));
  for (auto [argument, input] : llvm::zip(body->getArguments(), border.inputs))
    argument.setLoc(argumentLoc(input, path));
  body->back().setLoc(loc);
  function.getBody().push_back(body.release());
  return function;
}

/// Finds a function with an equal body, or null. If found, the operands of
/// `call` are permuted to the order of its arguments.
func::FuncOp OutlineBuilder::findEqual(Block *body, ModuleId of,
                                       llvm::hash_code hash,
                                       func::CallOp call) {
  if (!share)
    return {};
  for (Made &other : byHash[hash]) {
    if (tree[other.module].className != tree[of].className ||
        tree[other.module].qualified != tree[of].qualified)
      continue;
    auto arguments =
        matchBodies(other.function.front(), *body, hasLooseTypes());
    if (!arguments) {
      LDBG() << "'" << tree[of].path << "' has the hash of '@"
             << other.function.getSymName() << "', but another body";
      continue;
    }
    call->setOperands(llvm::map_to_vector(*arguments, [&](unsigned i) {
      assert(i < call.getNumOperands() && "arguments and operands match");
      return call.getOperand(i);
    }));
    return other.function;
  }
  return {};
}

/// The base name of a module's functions: its class or, if unknown, the last
/// component of its path that is not a number (`layer` for `encoder.layer.0`).
static StringRef baseName(const Module &module) {
  if (!module.className.empty())
    return module.className;
  SmallVector<StringRef> names;
  StringRef(module.path).split(names, '.');
  for (StringRef name : llvm::reverse(names))
    if (!llvm::all_of(name, llvm::isDigit))
      return name;
  return "module";
}

/// Fails if a function name is taken. Users look for the class name, so
/// choosing another would not help.
LogicalResult OutlineBuilder::checkNames(ArrayRef<Part> parts) {
  if (form == OutlineForm::Region)
    return success();
  for (const Part &part : parts.drop_front()) {
    const Module &of = tree[calls[part.group].module];
    Operation *taken = symbols.lookup(baseName(of));
    if (taken && !made.contains(taken) && !isa<HierarchyOp>(taken))
      return (tagged->block->getParentOp()->emitError("module '")
              << of.path << "' becomes a function '@" << baseName(of)
              << "', but that name is taken")
                 .attachNote(taken->getLoc())
             << "by this " << taken->getName();
  }
  return success();
}

/// BertLayer, BertLayer_1, …
std::string OutlineBuilder::freeName(ModuleId of) {
  StringRef base = baseName(tree[of]);
  while (true) {
    unsigned variant = variants[base]++;
    std::string name =
        variant ? (base + "_" + Twine(variant)).str() : base.str();
    if (!symbols.lookup(name))
      return name;
  }
}

/// Records how the ops of `body` differ from those of `shared`, which replaces
/// it.
OriginalsAttr OutlineBuilder::recordOriginals(func::FuncOp shared, Block *body,
                                              const ModuleFrame &frame) {
  SmallVector<NamedAttribute> differences;
  SmallVector<unsigned> ends;
  SmallVector<Operation *> ops = recordedOps(shared.front()),
                           originals = recordedOps(*body);
  assert(ops.size() == originals.size() && "equal bodies have as many ops");
  StatedTypes stated;
  for (auto [op, original] : llvm::zip(ops, originals)) {
    recordDifference(op, original, frame, differences,
                     stated.isLost(op, original));
    ends.push_back(differences.size());
  }
  return OriginalsAttr::get(module.getContext(), differences, ends);
}

Operation *OutlineBuilder::buildFunction(const Part &part,
                                         std::unique_ptr<Block> body) {
  ModuleId of = calls[part.group].module;
  Border border = findBorder(body.get());
  copyAbsentValues(body.get(), border.inputs);
  sortInputs(border.inputs, of);

  SmallVector<Type> types(llvm::map_range(
      border.results, [](Value value) { return value.getType(); }));
  auto call = func::CallOp::create(builder, builder.getUnknownLoc(), "outlined",
                                   types, border.inputs);
  replaceOutside(body.get(), border.results, call.getResults());
  close(body.get(), border);

  // Most bodies equal an earlier one; create a function only for a new body.
  ModuleFrame frame(tree[of].path);
  llvm::hash_code hash = hashBody(*body, hasLooseTypes());
  if (func::FuncOp equal = findEqual(body.get(), of, hash, call)) {
    annotate(call, part, border.results,
             recordOriginals(equal, body.get(), frame));
    call.setCallee(equal.getSymName());
    LDBG() << "'" << tree[of].path << "' shares '@" << equal.getSymName()
           << "'";
    for (auto [result, type] :
         llvm::zip(call.getResults(), equal.getResultTypes()))
      result.setType(type);
    numSaved += body->getOperations().size() - 1; // without the terminator
    return call.getOperation();
  }
  annotate(call, part, border.results);
  func::FuncOp function = makeFunction(part, std::move(body), border);
  function.setSymName(freeName(of));
  symbols.insert(function);
  made.insert(function);
  inOrder.push_back(function);
  byHash[hash].push_back({function, of});
  ++numFunctions;
  LDBG() << "'" << tree[of].path << "' becomes '@" << function.getSymName()
         << "' with " << function.front().getOperations().size() - 1 << " ops, "
         << function.getNumArguments() << " arguments and "
         << function.getNumResults() << " results, body hash " << size_t(hash);
  call.setCallee(function.getSymName());
  makeRelative(function, frame);
  return call.getOperation();
}

} // namespace htp
