// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The converter to onnx-mlir's dialect: types, constants, operators, subgraphs
// and calls.

#include "HTP/Target/ONNX/OnnxMlir.h"

#include "HTP/Dialect/ONNX/IR/Schema.h"
#include "OnnxMlirFunctions.h"
#include "OnnxMlirOps.h"
#include "ProtoAttr.h"
#include "Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using Parameter = OpSchema::FormalParameter;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Converts a type. Types that onnx-mlir does not have become `none`.
static Type convertType(Type type) {
  MLIRContext *context = type.getContext();
  auto container = [&](Type element, auto make) -> Type {
    Type converted = convertType(element);
    if (isa<NoneType>(converted))
      return converted;
    return make(converted);
  };
  return llvm::TypeSwitch<Type, Type>(type)
      .Case([&](htp::onnx::SeqType seq) {
        return container(seq.getElementType(), [&](Type element) {
          return htp::onnx::SeqType::get(context, element);
        });
      })
      .Case([&](htp::onnx::OptType opt) {
        return container(opt.getElementType(), [&](Type element) {
          return htp::onnx::OptType::get(context, element);
        });
      })
      .Case<htp::onnx::MapType, htp::onnx::OpaqueType,
            htp::onnx::SparseTensorType>(
          [&](Type) { return NoneType::get(context); })
      .Default(type);
}

/// The formal parameter for operand or result `index`; null if there is none.
static const Parameter *getParameter(const std::vector<Parameter> &parameters,
                                     unsigned index) {
  if (index < parameters.size())
    return &parameters[index];
  if (!parameters.empty() &&
      parameters.back().GetOption() == OpSchema::Variadic)
    return &parameters.back();
  return nullptr;
}

static bool accepts(const Parameter &parameter, Type type) {
  if (isa<NoneType>(type))
    return parameter.GetOption() == OpSchema::Optional;
  ::onnx::TypeProto proto;
  exportType(type, proto);
  if (proto.value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
    return false;
  return parameter.GetTypes().count(
      ::onnx::Utils::DataTypeUtils::ToType(proto));
}

/// A tensor type for a result of unknown type: with the element type of an
/// operand that has the same type variable in the schema, or else any allowed
/// one.
static Type guessType(const OpSchema &schema, const Parameter &parameter,
                      ValueRange operands) {
  MLIRContext *context = nullptr;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    context = operand.getContext();
    const Parameter *input = getParameter(schema.inputs(), index);
    auto tensor = dyn_cast<TensorType>(operand.getType());
    if (input && tensor && input->GetTypeStr() == parameter.GetTypeStr())
      return UnrankedTensorType::get(tensor.getElementType());
  }
  if (!context)
    return {};
  for (int32_t dataType = 1; dataType <= ::onnx::TensorProto::DataType_MAX;
       ++dataType) {
    Type element = htp::onnx::getElementType(dataType, context);
    if (Type type = UnrankedTensorType::get(element); accepts(parameter, type))
      return type;
  }
  return {};
}

/// The same without a schema: the element type of the first tensor.
static Type guessType(ValueRange operands, Builder &builder) {
  for (Value operand : operands)
    if (auto tensor = dyn_cast<TensorType>(operand.getType()))
      return UnrankedTensorType::get(tensor.getElementType());
  return UnrankedTensorType::get(builder.getF32Type());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
class Converter {
public:
  Converter(ModuleOp module, ReadExternal readExternal)
      : functions(module), readExternal(readExternal) {}

  LogicalResult convert(func::FuncOp function);

private:
  LogicalResult convert(Operation *op);
  LogicalResult convert(Block &block);
  LogicalResult convertCall(Operation *op, LocalFunctions::Instance callee);
  bool fit(Operation *op, const OpSchema &schema,
           SmallVectorImpl<NamedAttribute> &attrs,
           SmallVectorImpl<Type> &types);
  Operation *makeNode(Operation *op, const OnnxMlirOp &target,
                      ArrayRef<NamedAttribute> attrs, ArrayRef<Type> types);
  Operation *makeCustom(Operation *op);
  FailureOr<Attribute> convertValue(Operation *op, Attribute value);
  Value getNoValue(OpBuilder &builder, Operation *op);

  LocalFunctions functions;
  ReadExternal readExternal;
};
} // namespace

/// The elements of raw data. onnx-mlir's verifiers and folders read the values
/// of constants but cannot read resources.
static Attribute getDense(ShapedType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  if (element.isInteger(1)) {
    SmallVector<bool> values(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, values);
  }
  if (!isa<FloatType, IntegerType>(element) ||
      element.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  // If all elements are equal, use a splat.
  size_t size = element.getIntOrFloatBitWidth() / 8;
  if (bytes.size() > size && bytes.drop_front(size) == bytes.drop_back(size))
    bytes = bytes.take_front(size);
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// Reads external data and converts resources to elements; other values are
/// kept.
FailureOr<Attribute> Converter::convertValue(Operation *op, Attribute value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    Attribute dense =
        blob ? getDense(resource.getType(), blob->getData()) : Attribute();
    return dense ? dense : value;
  }
  auto external = dyn_cast<htp::onnx::ExternalAttr>(value);
  if (!external)
    return value;
  auto bytes = readExternal(external);
  if (!bytes) {
    op->emitError() << toString(bytes.takeError());
    return failure();
  }
  if (Attribute dense = getDense(external.getType(), *bytes))
    return dense;
  return Attribute(
      getBorrowedResource(external.getType(), "external", *bytes, nullptr));
}

/// Whether the node fits `schema`. Collects its attributes and its result
/// types, including those of missing results at the end.
bool Converter::fit(Operation *op, const OpSchema &schema,
                    SmallVectorImpl<NamedAttribute> &attrs,
                    SmallVectorImpl<Type> &types) {
  if (op->hasAttr("onnx.attributes") || op->hasAttr("sparse_value"))
    return false;
  int inputs = op->getNumOperands(), outputs = op->getNumResults();
  if (inputs < schema.min_input() || inputs > schema.max_input() ||
      outputs < schema.min_output() || outputs > schema.max_output())
    return false;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!accepts(*getParameter(schema.inputs(), index), operand.getType()))
      return false;
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    if (htp::onnx::isReservedAttrName(attr.getName()))
      continue;
    if (!schema.attributes().count(attr.getName().str()))
      return false;
    attrs.push_back(attr);
  }
  for (const auto &[name, attribute] : schema.attributes())
    if (attribute.required && attribute.type != AttributeProto::GRAPH &&
        !op->hasAttr(name))
      return false;
  for (Value result : op->getResults()) {
    Type type = convertType(result.getType());
    const Parameter &parameter = *getParameter(schema.outputs(), types.size());
    if (!accepts(parameter, type) && isa<NoneType>(type))
      type = guessType(schema, parameter, op->getOperands());
    if (!type || !accepts(parameter, type))
      return false;
    types.push_back(type);
  }
  while (types.size() < schema.outputs().size() &&
         schema.outputs()[types.size()].GetOption() != OpSchema::Variadic)
    types.push_back(NoneType::get(op->getContext()));
  return true;
}

Value Converter::getNoValue(OpBuilder &builder, Operation *op) {
  return htp::onnx::NoValueOp::create(
      builder, op->getLoc(), builder.getNoneType(), builder.getUnitAttr());
}

/// Adds the names of a subgraph's inputs and outputs and of their dimensions in
/// onnx-mlir's form, which has room for one subgraph only.
static void addSubgraphNames(Operation *op, OperationState &state) {
  auto graphs = op->getAttrOfType<ArrayAttr>("onnx.graphs");
  auto first = graphs && !graphs.empty() ? dyn_cast<DictionaryAttr>(graphs[0])
                                         : DictionaryAttr();
  if (!first)
    return;
  Builder builder(op->getContext());
  for (StringRef kind : {"input", "output"}) {
    auto entries = first.getAs<ArrayAttr>((kind + "s").str());
    if (!entries)
      continue;
    SmallVector<Attribute> names, dimParams;
    for (Attribute entry : entries) {
      auto dict = dyn_cast<DictionaryAttr>(entry);
      names.push_back(dict ? dict.get("name") : entry);
      Attribute params = dict ? dict.get("dim_params") : Attribute();
      dimParams.push_back(params ? params : builder.getStringAttr(""));
    }
    auto isGiven = [&](Attribute params) {
      return params != builder.getStringAttr("");
    };
    state.addAttribute((kind + "_names").str(), builder.getArrayAttr(names));
    if (llvm::any_of(dimParams, isGiven))
      state.addAttribute((kind + "_dim_params").str(),
                         builder.getArrayAttr(dimParams));
  }
}

static void addNodeName(Operation *op, OperationState &state) {
  auto name = op->getAttrOfType<StringAttr>(htp::onnx::kNodeName);
  // Constants must have no attributes other than their value.
  if (name && htp::onnx::getOpType(op) != "Constant")
    state.addAttribute(htp::onnx::kNodeName, name);
}

Operation *Converter::makeNode(Operation *op, const OnnxMlirOp &target,
                               ArrayRef<NamedAttribute> attrs,
                               ArrayRef<Type> types) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), target.name);
  state.addOperands(op->getOperands());
  const auto &inputs = target.schema->inputs();
  while (state.operands.size() < inputs.size() &&
         inputs[state.operands.size()].GetOption() != OpSchema::Variadic)
    state.addOperands(getNoValue(builder, op));
  state.addAttributes(attrs);
  state.addTypes(types);
  addNodeName(op, state);
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  if (op->getNumRegions())
    addSubgraphNames(op, state);
  return builder.create(state);
}

/// Converts an op to onnx.Custom, which supports neither subgraphs nor
/// sequences and optionals.
Operation *Converter::makeCustom(Operation *op) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), "onnx.Custom");
  auto isTaken = [](Type type) { return isa<TensorType, NoneType>(type); };
  for (Value operand : op->getOperands()) {
    if (!isTaken(operand.getType()))
      op->emitWarning() << "becomes onnx.Custom, which takes no "
                        << operand.getType()
                        << " in onnx-mlir: the operand is left out";
    state.addOperands(isTaken(operand.getType()) ? operand
                                                 : getNoValue(builder, op));
  }
  for (Value result : op->getResults()) {
    Type type = convertType(result.getType());
    if (!isTaken(type))
      type = builder.getNoneType();
    // Users expect a tensor; most custom operators preserve the element type.
    if (isa<NoneType>(result.getType()) && !result.use_empty())
      type = guessType(op->getOperands(), builder);
    state.addTypes(type);
  }
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op))
    if (!htp::onnx::isReservedAttrName(attr.getName()))
      state.addAttribute(attr.getName(), attr.getValue());
  if (!isa<htp::onnx::CustomOp>(op)) {
    state.addAttribute("function_name",
                       builder.getStringAttr(htp::onnx::getOpType(op)));
    StringRef domain = htp::onnx::getDomain(op);
    if (!domain.empty())
      state.addAttribute("domain_name", builder.getStringAttr(domain));
  }
  addNodeName(op, state);
  return builder.create(state);
}

/// Converts a call of a model-local function, and creates the function if there
/// is none for this kind of call yet.
LogicalResult Converter::convertCall(Operation *op,
                                     LocalFunctions::Instance callee) {
  func::FuncOp function = callee.function;
  if (!callee.isNew && functions.isOpen(function))
    return op->emitError() << "function '" << htp::onnx::getOpType(op)
                           << "' calls itself, which ONNX does not allow";
  if (callee.isNew) {
    if (failed(convert(function)))
      return failure();
    functions.finish(function, op->getResultTypes());
  }
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  while (operands.size() < function.getNumArguments())
    operands.push_back(getNoValue(builder, op));
  auto call = func::CallOp::create(builder, op->getLoc(), function, operands);
  if (auto name = op->getAttrOfType<StringAttr>(htp::onnx::kNodeName))
    call->setAttr(htp::onnx::kNodeName, name);
  op->replaceAllUsesWith(call.getResults().take_front(op->getNumResults()));
  op->erase();
  return success();
}

LogicalResult Converter::convert(Operation *op) {
  if (auto callee = functions.instantiate(op); callee.function)
    return convertCall(op, callee);
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    FailureOr<Attribute> converted = convertValue(op, attr.getValue());
    if (failed(converted))
      return failure();
    if (*converted != attr.getValue())
      op->setAttr(attr.getName(), *converted);
  }
  inferResultTypes(op);
  StringRef domain = htp::onnx::getDomain(op);
  SmallVector<OnnxMlirOp> targets;
  if (!isa<htp::onnx::CustomOp>(op) && !isRefusedByOnnxMlir(op))
    targets = findOnnxMlirOps(htp::onnx::getOpType(op), domain,
                              htp::onnx::getOpsetVersion(op, domain));
  OpBuilder builder(op);
  if (Value value = foldForOnnxMlir(op, builder)) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  }
  Operation *replacement = nullptr;
  for (const OnnxMlirOp &target : targets) {
    SmallVector<NamedAttribute> attrs;
    SmallVector<Type> types;
    if (!replacement && fit(op, *target.schema, attrs, types))
      replacement = makeNode(op, target, attrs, types);
  }
  if (!replacement)
    replacement = makeCustom(op);
  op->replaceAllUsesWith(
      replacement->getResults().take_front(op->getNumResults()));
  op->erase();
  for (Region &region : replacement->getRegions())
    for (Block &block : region)
      if (failed(convert(block)))
        return failure();
  return success();
}

LogicalResult Converter::convert(Block &block) {
  for (BlockArgument argument : block.getArguments())
    argument.setType(convertType(argument.getType()));
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<htp::onnx::ReturnOp, htp::onnx::YieldOp, htp::onnx::NoValueOp>(op))
      continue;
    if (isa<func::CallOp>(op)) {
      for (NamedAttribute attr : llvm::to_vector(op.getDiscardableAttrs()))
        if (attr.getName() != htp::onnx::kNodeName)
          op.removeDiscardableAttr(attr.getName());
      continue;
    }
    if (op.getName().getDialectNamespace() != "onnx")
      return op.emitError()
             << "'" << op.getName() << "' is not known to onnx-mlir";
    if (failed(convert(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions and the module
//===----------------------------------------------------------------------===//

static DictionaryAttr keepNames(DictionaryAttr attrs, MLIRContext *context) {
  NamedAttrList kept;
  if (attrs)
    for (NamedAttribute attr : attrs)
      if (attr.getName() == "onnx.name" || attr.getName() == "onnx.dim_params")
        kept.append(attr);
  return kept.getDictionary(context);
}

LogicalResult Converter::convert(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  Block &block = function.getBody().front();
  if (failed(convert(block)))
    return failure();
  function.setType(FunctionType::get(context, block.getArgumentTypes(),
                                     block.getTerminator()->getOperandTypes()));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttrs(i, keepNames(function.getArgAttrDict(i), context));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttrs(i,
                            keepNames(function.getResultAttrDict(i), context));
  return success();
}

/// Removes ONNX's attributes from a module or function, and those of other
/// dialects unless they are strings, which onnx-mlir can parse without the
/// dialect.
static void removeAttrs(Operation *op) {
  for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
    if (attr.getName().strref().starts_with("onnx") ||
        !isa<StringAttr>(attr.getValue()))
      op->removeDiscardableAttr(attr.getName());
}

LogicalResult htp::convertToOnnxMlir(ModuleOp module,
                                     ReadExternal readExternal) {
  Converter converter(module, readExternal);
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isDeclaration() && failed(converter.convert(function)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (!isa<func::FuncOp, htp::onnx::EntryPointOp>(op))
      op.erase();
  // The opset imports were needed until here.
  for (auto function : module.getOps<func::FuncOp>())
    removeAttrs(function);
  removeAttrs(module);
  return success();
}
