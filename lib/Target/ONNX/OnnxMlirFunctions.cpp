// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specializes model-local functions for the calls of them: attributes become
// constants in the body, and types are inferred.

#include "OnnxMlirFunctions.h"

#include "Attributes.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"
#include "Types.h"

#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/StringSet.h"

#include <cassert>

using namespace mlir;
using namespace htp;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;
using ::onnx::TypeProto;

/// The key that identifies a function of a model.
static std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  if (domain == "ai.onnx")
    domain = "";
  return (domain + "\n" + name + "\n" + overload).str();
}

static StringRef getText(Operation *op, StringRef name) {
  auto text = op->getAttrOfType<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

LocalFunctions::LocalFunctions(ModuleOp module) : symbols(module) {
  // Functions called by func.call are not model-local functions.
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    StringRef name = getText(function, "onnx.function_name");
    if (!function.isPrivate() || function.isDeclaration() || name.empty() ||
        called.contains(function.getSymName()))
      continue;
    symbols.remove(function);
    function->remove();
    functions[keyOf(getText(function, "onnx.function_domain"), name,
                    getText(function, "onnx.function_overload"))] = function;
  }
}

func::FuncOp LocalFunctions::find(Operation *call) {
  auto known = functions.find(keyOf(htp::onnx::getDomain(call),
                                    htp::onnx::getOpType(call),
                                    getText(call, "onnx.overload")));
  return known == functions.end() ? func::FuncOp() : *known->second;
}

//===----------------------------------------------------------------------===//
// Attributes as parameters
//===----------------------------------------------------------------------===//

/// The attributes that a call passes to its function.
static DictionaryAttr getArguments(Operation *call) {
  NamedAttrList arguments;
  for (NamedAttribute attr : htp::onnx::getAllAttrs(call))
    if (!htp::onnx::isReservedAttrName(attr.getName()) &&
        attr.getName() != "function_name" && attr.getName() != "domain_name")
      arguments.append(attr);
  return arguments.getDictionary(call->getContext());
}

/// The value of an attribute that was stored field by field; null if it has
/// none.
static Attribute readAttribute(DictionaryAttr encoded, MLIRContext *context) {
  AttributeProto proto;
  ModelWriter writer;
  ProtoDecoder decoder(writer,
                       [&] { return emitError(UnknownLoc::get(context)); });
  if (failed(decoder.decode(encoded.getValue(), proto)))
    return {};
  ProtoEncoder encoder(context, nullptr);
  TensorImporter tensors(context, nullptr);
  std::string error;
  auto imported = importAttribute(proto, /*isDataType=*/false, encoder, tensors,
                                  context, error);
  return failed(imported) ? Attribute() : imported->value;
}

/// Adds the defaults of attributes that the call leaves out.
static DictionaryAttr addDefaults(DictionaryAttr arguments,
                                  func::FuncOp function) {
  NamedAttrList all(arguments);
  if (auto defaults =
          function->getAttrOfType<ArrayAttr>("onnx.attribute_proto"))
    for (DictionaryAttr entry : defaults.getAsRange<DictionaryAttr>())
      if (auto name = entry.getAs<StringAttr>("name"); name && !all.get(name))
        if (Attribute value = readAttribute(entry, function.getContext()))
          all.append(name, value);
  return all.getDictionary(function.getContext());
}

/// As on import, `to` of Cast becomes a type.
static Attribute asValueOf(Operation *op, StringRef name, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || name != "to" || htp::onnx::getOpType(op) != "Cast")
    return value;
  Type type = htp::onnx::getElementType(
      static_cast<int32_t>(number.getValue().getSExtValue()), op->getContext());
  return type ? TypeAttr::get(type) : value;
}

/// Replaces references in the body by the call's values. A reference to an
/// attribute that the call leaves out is removed.
static void resolveReferences(Operation *op, DictionaryAttr arguments) {
  auto encoded = op->getAttrOfType<ArrayAttr>("onnx.attributes");
  if (!encoded)
    return;
  SmallVector<Attribute> rest;
  for (Attribute attribute : encoded) {
    auto entry = dyn_cast<DictionaryAttr>(attribute);
    auto reference =
        entry ? entry.getAs<StringAttr>("ref_attr_name") : StringAttr();
    auto name = entry ? entry.getAs<StringAttr>("name") : StringAttr();
    if (!reference || !name)
      rest.push_back(attribute);
    else if (Attribute value = arguments.get(reference))
      op->setAttr(name, asValueOf(op, name, value));
  }
  if (rest.empty())
    op->removeAttr("onnx.attributes");
  else
    op->setAttr("onnx.attributes", ArrayAttr::get(op->getContext(), rest));
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

LocalFunctions::Instance LocalFunctions::instantiate(Operation *call) {
  func::FuncOp function = find(call);
  if (!function || call->getNumOperands() > function.getNumArguments() ||
      call->getNumResults() > function.getNumResults())
    return {};
  MLIRContext *context = call->getContext();
  SmallVector<Attribute> types;
  for (Type type : call->getOperandTypes())
    types.push_back(TypeAttr::get(type));
  DictionaryAttr arguments = addDefaults(getArguments(call), function);
  auto key =
      ArrayAttr::get(context, {StringAttr::get(context, function.getSymName()),
                               arguments, ArrayAttr::get(context, types)});
  auto [known, isNew] = instances.try_emplace(key);
  if (!isNew)
    return {known->second, false};
  func::FuncOp instance = function.clone();
  known->second = instance;
  symbols.insert(instance);
  open.insert(instance);
  instance.walk([&](Operation *op) { resolveReferences(op, arguments); });
  Block &body = instance.getBody().front();
  for (auto [index, argument] : llvm::enumerate(body.getArguments()))
    argument.setType(index < types.size() ? call->getOperand(index).getType()
                                          : NoneType::get(context));
  return {instance, true};
}

/// Whether `type` is less specific than `other`, for the same value.
static bool isLessSpecific(Type type, Type other) {
  auto mine = dyn_cast<ShapedType>(type), others = dyn_cast<ShapedType>(other);
  if (!mine || !others)
    return isa<NoneType>(type);
  return !mine.hasRank() && mine.getElementType() == others.getElementType();
}

void LocalFunctions::finish(func::FuncOp instance, TypeRange resultTypes) {
  assert(isOpen(instance) && "an instance is finished once");
  Operation *end = instance.getBody().front().getTerminator();
  for (auto [value, type] : llvm::zip(end->getOperands(), resultTypes)) {
    // The result types of another call must match its function.
    Operation *producer = value.getDefiningOp();
    if (producer && !isa<func::CallOp>(producer) &&
        isLessSpecific(value.getType(), type))
      value.setType(type);
  }
  instance.setType(FunctionType::get(instance.getContext(),
                                     instance.getArgumentTypes(),
                                     end->getOperandTypes()));
  open.erase(instance);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult htp::exportShell(Operation *op, NodeProto &node,
                               std::vector<TypeProto> &types) {
  node.set_op_type(htp::onnx::getOpType(op).str());
  node.set_domain(htp::onnx::getDomain(op).str());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    exportType(operand.getType(), types.emplace_back());
    bool isGiven = !isa<NoneType>(operand.getType());
    node.add_input(isGiven ? "in" + std::to_string(index) : "");
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    node.add_output("out" + std::to_string(i));
  ModelWriter writer;
  ProtoDecoder decoder(writer, [&] { return op->emitError(); });
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    std::string error;
    if (!htp::onnx::isReservedAttrName(attr.getName()) &&
        failed(exportAttribute(attr.getName(), attr.getValue(), {}, decoder,
                               writer, *node.add_attribute(), error)))
      return failure();
  }
  return success();
}

void htp::inferResultTypes(Operation *op) {
  const ::onnx::OpSchema *schema = htp::onnx::findSchema(op);
  auto isUnknown = [](Type type) { return isa<NoneType>(type); };
  if (!schema || op->getNumRegions() ||
      llvm::none_of(op->getResultTypes(), isUnknown))
    return;
  NodeProto node;
  std::vector<TypeProto> types;
  if (failed(exportShell(op, node, types)))
    return;
  std::unordered_map<std::string, TypeProto *> byName;
  for (auto [index, type] : llvm::enumerate(types))
    if (type.value_case() != TypeProto::VALUE_NOT_SET)
      byName[node.input(index)] = &type;
  try {
    ::onnx::ShapeInferenceOptions options;
    ::onnx::shape_inference::InferenceContextImpl inference(node, byName, {},
                                                            {}, options);
    schema->GetTypeAndShapeInferenceFunction()(inference);
    std::string error;
    for (OpResult result : op->getResults())
      if (isUnknown(result.getType()))
        if (Type type =
                importType(*inference.getOutputType(result.getResultNumber()),
                           op->getContext(), error))
          result.setType(type);
  } catch (const std::exception &) {
    return; // unknown; a type is guessed later
  }
}
