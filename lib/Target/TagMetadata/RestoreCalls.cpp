// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RestoreCalls.h"
#include "Keys.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace htp {

/// The attribute that the importer makes of a graph's value_info.
static constexpr StringLiteral kValueInfoAttr = "onnx.value_info";

namespace {
/// The types of what calls of outlined functions pass and get. A call needs the
/// very types of its function, but a file holds the types of some values only,
/// and inference may find more, or less, than was known when the function was
/// made; some tools drop the types of functions. So all values that calls tie
/// together have one type: that of the functions' own inputs and outputs where
/// they agree, else that of what calls pass where that agrees, else none.
class CallTypes {
public:
  void tie(ValueRange inside, ValueRange outside) {
    for (auto [one, other] : llvm::zip(inside, outside)) {
      noteType(known[one].inside, one.getType());
      noteType(known[other].outside, other.getType());
      classes.unionSets(one.getAsOpaquePointer(), other.getAsOpaquePointer());
    }
  }

  void apply() {
    for (const auto *leader : classes) {
      if (!leader->isLeader())
        continue;
      Known all;
      for (const void *member : classes.members(*leader)) {
        Known &own = known[Value::getFromOpaquePointer(member)];
        noteType(all.inside, own.inside);
        noteType(all.outside, own.outside);
      }
      Type type = all.inside ? all.inside : all.outside;
      for (const void *member : classes.members(*leader))
        give(Value::getFromOpaquePointer(member), type);
    }
  }

private:
  /// `none` where nothing is known, or too much.
  struct Known {
    Type inside, outside;
  };

  static void noteType(Type &known, Type type) {
    if (!type || (isa<NoneType>(type) && !known))
      return;
    if (!known)
      known = type;
    else if (known != type)
      known = NoneType::get(type.getContext());
  }

  /// What a graph takes, and what a tensor is, others have said.
  static bool mayChange(Value value) {
    if (Operation *op = value.getDefiningOp())
      return !isInitializer(op);
    return value.getParentBlock()->getParentOp()->hasAttr(kModuleAttr);
  }

  static void give(Value value, Type type) {
    if (!type || !mayChange(value))
      return;
    auto own = dyn_cast<ShapedType>(value.getType()),
         other = dyn_cast<ShapedType>(type);
    if (own && other && own.getElementType() != other.getElementType())
      return;
    if ((own || isa<NoneType>(value.getType())) &&
        (other || isa<NoneType>(type)))
      value.setType(type);
  }

  llvm::DenseMap<Value, Known> known;
  llvm::EquivalenceClasses<const void *> classes;
};
} // namespace

/// The function's type after those of its values changed.
static void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

/// A node that calls an outlined function, as the importer spells it.
static void makeCall(Operation *node, func::FuncOp callee) {
  OpBuilder builder(node);
  auto call = func::CallOp::create(builder, node->getLoc(), callee.getSymName(),
                                   node->getResultTypes(), node->getOperands());
  for (NamedAttribute attribute : node->getAttrDictionary())
    if (isAnnotation(attribute.getName()))
      call->setAttr(attribute.getName(), attribute.getValue());
  node->replaceAllUsesWith(call);
  node->erase();
}

/// The name in an entry of a list of types.
static StringAttr nameOfInfo(Attribute info) {
  if (auto fields = dyn_cast<DictionaryAttr>(info))
    return fields.getAs<StringAttr>("name");
  return dyn_cast<StringAttr>(info);
}

/// Types of values that went into functions come back with them: the list of
/// all is kept as a note, of which the file's own entries are a part. What
/// somebody has changed since in those is as they say.
static void restoreValueInfo(func::FuncOp function) {
  auto noted = dyn_cast_or_null<ArrayAttr>(function->removeAttr(kValueInfoKey));
  if (!noted)
    return;
  SmallVector<Attribute> listed;
  if (auto infos = function->getAttrOfType<ArrayAttr>(kValueInfoAttr))
    listed.assign(infos.begin(), infos.end());
  llvm::DenseMap<Attribute, size_t> places;
  for (auto [place, info] : llvm::enumerate(listed))
    places.try_emplace(nameOfInfo(info), place);
  // A value of this graph that the file no longer lists is not to come back.
  llvm::DenseSet<Attribute> values;
  for (Operation &op : function.front())
    if (auto names = op.getAttrOfType<ArrayAttr>(kOutputNamesAttr))
      values.insert(names.begin(), names.end());
  for (BlockArgument argument : function.getArguments())
    values.insert(getValueNameAttr(argument));
  SmallVector<Attribute> infos;
  size_t next = 0; // of the file's entries, which stay in their order
  for (Attribute info : noted) {
    StringAttr name = nameOfInfo(info);
    if (auto own = places.find(name); own != places.end())
      while (next <= own->second)
        infos.push_back(listed[next++]);
    else if (!values.contains(name))
      infos.push_back(info);
  }
  infos.append(listed.begin() + next, listed.end());
  function->setAttr(kValueInfoAttr,
                    ArrayAttr::get(function.getContext(), infos));
}

/// Whether two values may be one as far as their types go, of which either may
/// say less.
static bool mayBeOne(Type one, Type other) {
  auto left = dyn_cast<ShapedType>(one), right = dyn_cast<ShapedType>(other);
  if (!left || !right)
    return one == other || isa<NoneType>(one) || isa<NoneType>(other);
  return left.getElementType() == right.getElementType() &&
         succeeded(verifyCompatibleShape(left, right));
}

static bool mayBeOne(TypeRange some, TypeRange others) {
  return some.size() == others.size() &&
         llvm::all_of(llvm::zip(some, others), [](auto pair) {
           return mayBeOne(std::get<0>(pair), std::get<1>(pair));
         });
}

/// What keeps a node that names an outlined function from being its call.
static StringRef whyNoCall(Operation *node, func::FuncOp callee) {
  for (NamedAttribute attribute : node->getAttrDictionary())
    if (StringRef name = attribute.getName();
        !isAnnotation(name) && name != "function_name" && name != "domain_name")
      return "with attributes, which it does not have";
  if (!mayBeOne(node->getOperandTypes(), callee.getArgumentTypes()) ||
      !mayBeOne(node->getResultTypes(), callee.getResultTypes()))
    return "with other operands or results than it has";
  return {};
}

/// The same, when all types are known that will be.
static StringRef whyNoCallNow(Operation *node, func::FuncOp callee) {
  if (TypeRange(node->getOperandTypes()) != callee.getArgumentTypes() ||
      TypeRange(node->getResultTypes()) != callee.getResultTypes())
    return "with values of other types";
  return {};
}

/// Nodes that call outlined functions become func.call, where they fit.
void restoreCalls(mlir::ModuleOp module, Location loc) {
  using Name = std::pair<Attribute, Attribute>; // domain, operator
  llvm::DenseMap<Name, func::FuncOp> outlined;
  for (auto function : module.getOps<func::FuncOp>()) {
    restoreValueInfo(function);
    if (function->hasAttr(kModuleAttr))
      outlined[{function->getAttr("onnx.function_domain"),
                function->getAttr("onnx.function_name")}] = function;
  }
  if (outlined.empty())
    return;
  SmallVector<std::pair<Operation *, func::FuncOp>> nodes;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() != "onnx.Custom")
      return;
    if (auto callee = outlined.lookup(
            {op->getAttr("domain_name"), op->getAttr("function_name")}))
      nodes.push_back({op, callee});
  });
  auto leaveOut = [&](auto reason) {
    llvm::erase_if(nodes, [&](auto pair) {
      auto [node, callee] = pair;
      StringRef why = reason(node, callee);
      if (!why.empty())
        emitWarning(loc) << "node '" << getNodeName(node)
                         << "' calls the outlined function '"
                         << callee.getSymName() << "' " << why
                         << "; it stays a node";
      return !why.empty();
    });
  };
  leaveOut(whyNoCall);
  CallTypes types;
  for (auto [node, callee] : nodes) {
    Block &body = callee.getBody().front();
    types.tie(body.getArguments(), node->getOperands());
    types.tie(body.getTerminator()->getOperands(), node->getResults());
  }
  types.apply();
  for (auto [name, function] : outlined)
    updateType(function);
  leaveOut(whyNoCallNow);
  for (auto [node, callee] : nodes)
    makeCall(node, callee);
}

} // namespace htp
