// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns nodes that call outlined functions back into func.call, reconciling
// types.

#include "RestoreCalls.h"
#include "Keys.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace htp {

/// The importer's attribute for a graph's value_info.
static constexpr StringLiteral kValueInfoAttr = "onnx.value_info";

namespace {
/// Reconciles the types of values passed to and returned from outlined
/// functions. A call must have exactly the types of its function, but a file
/// has types for some values only, inference may find more or less than was
/// known when outlining, and some tools drop the types of functions. So all
/// values that are tied together by calls get one type: that of the functions'
/// inputs and outputs if they agree, else that of the values passed by calls if
/// they agree, else `none`.
class CallTypes {
public:
  void tie(ValueRange inside, ValueRange outside) {
    for (auto [one, other] : llvm::zip(inside, outside)) {
      noteType(known[one].inside, one.getType());
      noteType(known[other].outside, other.getType());
      classes.unionSets(one.getAsOpaquePointer(), other.getAsOpaquePointer());
    }
  }

  /// The types that `apply` replaced.
  llvm::MapVector<Value, Type> former;

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
  /// `none` if the type is unknown or ambiguous.
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

  /// Whether the type may change: inputs of the graph and initializers have
  /// fixed types.
  static bool mayChange(Value value) {
    if (Operation *op = value.getDefiningOp())
      return !isInitializer(op);
    return value.getParentBlock()->getParentOp()->hasAttr(kModuleAttr);
  }

  void give(Value value, Type type) {
    if (!type || type == value.getType() || !mayChange(value))
      return;
    auto own = dyn_cast<ShapedType>(value.getType()),
         other = dyn_cast<ShapedType>(type);
    if (own && other && own.getElementType() != other.getElementType())
      return;
    if ((own || isa<NoneType>(value.getType())) &&
        (other || isa<NoneType>(type))) {
      former.insert({value, value.getType()});
      value.setType(type);
    }
  }

  llvm::DenseMap<Value, Known> known;
  llvm::EquivalenceClasses<const void *> classes;
};
} // namespace

/// Updates the function's type after the types of its values changed.
static void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

/// Replaces a node that calls an outlined function by a func.call.
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

/// The value name in an entry of value_info.
static StringAttr nameOfInfo(Attribute info) {
  if (auto fields = dyn_cast<DictionaryAttr>(info))
    return fields.getAs<StringAttr>("name");
  return dyn_cast<StringAttr>(info);
}

/// Restores value_info entries of values that moved into functions. The full
/// list was stored in the metadata; entries that are (still) in the file take
/// precedence, as they may have been changed since.
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
  // Entries that were removed from the file for values of this graph are not
  // restored.
  llvm::DenseSet<Attribute> values;
  for (Operation &op : function.front())
    if (auto names = op.getAttrOfType<ArrayAttr>(kOutputNamesAttr))
      values.insert(names.begin(), names.end());
  for (BlockArgument argument : function.getArguments())
    values.insert(getValueNameAttr(argument));
  SmallVector<Attribute> infos;
  size_t next = 0; // index into the file's entries, which keep their order
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

/// Keeps what graphs state about values that have the types of a function now.
/// Another tool may have made it more specific, and a call cannot be.
static void keepStatedTypes(const llvm::MapVector<Value, Type> &former) {
  llvm::MapVector<Operation *, llvm::DenseMap<Attribute, Type>> graphs;
  for (auto [value, type] : former)
    if (Operation *graph = value.getParentBlock()->getParentOp();
        graph->hasAttr(kValueInfoAttr) && !isa<NoneType>(type))
      graphs[graph].try_emplace(getValueNameAttr(value), type);
  for (auto &[graph, types] : graphs) {
    Builder builder(graph->getContext());
    SmallVector<Attribute> infos;
    for (Attribute info : graph->getAttrOfType<ArrayAttr>(kValueInfoAttr)) {
      if (Type type = types.lookup(nameOfInfo(info))) {
        NamedAttrList fields;
        if (auto known = dyn_cast<DictionaryAttr>(info))
          fields.append(known.begin(), known.end());
        fields.set("name", nameOfInfo(info));
        fields.set(kStatedType, TypeAttr::get(type));
        info = fields.getDictionary(builder.getContext());
      }
      infos.push_back(info);
    }
    graph->setAttr(kValueInfoAttr, builder.getArrayAttr(infos));
  }
}

/// Why a node that names an outlined function cannot become a call; empty if it
/// can.
static StringRef whyNoCall(Operation *node, func::FuncOp callee) {
  // A call is written with the name of its function. Where a node leaves out
  // what the function has as an empty text, that would be another file.
  if (node->getAttr("domain_name") != callee->getAttr("onnx.function_domain") ||
      node->getAttr(kOverloadAttr) != callee->getAttr(kFunctionOverloadAttr))
    return "with another spelling of its name";
  auto isPartOfName = [](StringRef name) {
    return name == "function_name" || name == "domain_name" ||
           name == kOverloadAttr;
  };
  for (NamedAttribute attribute : node->getAttrDictionary())
    if (StringRef name = attribute.getName();
        !isAnnotation(name) && !isPartOfName(name))
      return "with attributes, which it does not have";
  if (!mayBeOne(node->getOperandTypes(), callee.getArgumentTypes()) ||
      !mayBeOne(node->getResultTypes(), callee.getResultTypes()))
    return "with other operands or results than it has";
  return {};
}

/// The same check once types have been reconciled.
static StringRef whyNoCallNow(Operation *node, func::FuncOp callee) {
  if (TypeRange(node->getOperandTypes()) != callee.getArgumentTypes() ||
      TypeRange(node->getResultTypes()) != callee.getResultTypes())
    return "with values of other types";
  return {};
}

/// Turns nodes that call outlined functions into func.call, if they fit.
void restoreCalls(mlir::ModuleOp module, Location loc) {
  llvm::DenseMap<FunctionId, func::FuncOp> outlined;
  for (auto function : module.getOps<func::FuncOp>()) {
    restoreValueInfo(function);
    if (function->hasAttr(kModuleAttr))
      outlined[functionId(function)] = function;
  }
  if (outlined.empty())
    return;
  SmallVector<std::pair<Operation *, func::FuncOp>> nodes;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() != "onnx.Custom")
      return;
    if (auto callee = outlined.lookup(calledFunctionId(op)))
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
  keepStatedTypes(types.former);
  for (auto [name, function] : outlined)
    updateType(function);
  leaveOut(whyNoCallNow);
  for (auto [node, callee] : nodes)
    makeCall(node, callee);
}

} // namespace htp
