// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers one MLIR operation per ONNX operator, with properties.
//
// MLIR's own dynamic operations (DynamicOpDefinition) have no properties, so
// they never compare equal (CSE does nothing) and cannot parse the `<{…}>` of
// onnx-mlir's text. Here, the attributes of the schema and the dialect's
// bookkeeping (the names of the node and of its outputs, its metadata) are
// properties. Bookkeeping is ignored in comparisons: two nodes that compute the
// same are equal whatever their names.
//
// Properties that are unique to each node (its names, its metadata, the value
// of a constant) are stored outside of the attribute dictionary, so that nearly
// all nodes share one of a few dictionaries. MLIR never frees a dictionary, and
// its table of them gets slower as it grows.

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OperationSupport.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp::onnx;

/// Attributes that the importer adds to those of the ONNX node.
static constexpr llvm::StringLiteral kBookkeeping[] = {
    kNodeName,
    kOutputNames,
    kMetadataProps,
    kDocString,
    "onnx.attribute_info",
    "onnx.attribute_order",
    "onnx.attributes",
    "onnx.device_configurations",
    "onnx.domain",
    "onnx.graphs",
    "onnx.overload"};

static const llvm::StringSet<> &bookkeeping() {
  static const auto *names =
      new llvm::StringSet<>(llvm::from_range, kBookkeeping);
  return *names;
}

/// Properties stored outside of the dictionary (see above). The value must be
/// last.
static constexpr llvm::StringLiteral kOwn[] = {kMetadataProps, kNodeName,
                                               kOutputNames, kValue};

bool htp::onnx::isOwn(StringRef name) { return llvm::is_contained(kOwn, name); }

static bool isBookkeeping(StringRef name) {
  // These two affect what the node computes.
  if (name == "onnx.attributes" || name == "onnx.overload")
    return false;
  return llvm::is_contained(kBookkeeping, name);
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

namespace {
/// Nodes have no side effects. Random operators do not get this interface.
struct NoEffects : MemoryEffectOpInterface::FallbackModel<NoEffects> {
  void
  getEffects(Operation *,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                 &) const {}
};

/// Prints values under their names in the model.
struct ResultNames : OpAsmOpInterface::FallbackModel<ResultNames> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
    auto names = op->getAttrOfType<ArrayAttr>(kOutputNames);
    if (!names || names.size() != op->getNumResults())
      return;
    for (auto [result, name] : llvm::zip_equal(op->getResults(), names))
      if (auto string = dyn_cast<StringAttr>(name))
        setName(result, identifier(string));
  }
  void getAsmBlockArgumentNames(Operation *, Region &,
                                OpAsmSetValueNameFn) const {}
  void getAsmBlockNames(Operation *, OpAsmSetBlockNameFn) const {}
  static StringRef getDefaultDialect() { return ""; }

private:
  /// `/encoder/layer.0/MatMul_output_0` → `encoder_layer.0_MatMul_output_0`:
  /// the printer would print a slash in hexadecimal.
  static std::string identifier(StringRef name) {
    std::string result;
    for (char c : name.ltrim('/'))
      result += llvm::isAlnum(c) || c == '.' || c == '$' ? c : '_';
    return result;
  }
};

/// Writes all properties as one attribute.
struct BytecodeModel : BytecodeOpInterface::FallbackModel<BytecodeModel> {
  static LogicalResult readProperties(DialectBytecodeReader &reader,
                                      OperationState &state) {
    return reader.readOptionalAttribute(state.propertiesAttr);
  }
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const {
    writer.writeOptionalAttribute(op->getPropertiesAsAttribute());
  }
};
} // namespace

/// Unregistered operations only get result names.
void *ONNXDialect::getRegisteredInterfaceForOp(TypeID interfaceID,
                                               OperationName) {
  static ResultNames resultNames;
  return interfaceID == OpAsmOpInterface::getInterfaceID() ? &resultNames
                                                           : nullptr;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
struct Properties {
  std::array<Attribute, std::size(kOwn)> own; ///< null if absent
  DictionaryAttr attributes;                  ///< all others; null if none

  Attribute *find(StringRef name) {
    const auto *it = llvm::find(kOwn, name);
    return it == std::end(kOwn) ? nullptr : &own[it - std::begin(kOwn)];
  }
  Attribute value() const { return own.back(); }
  bool isValueOnly() const {
    auto notes = llvm::drop_end(own);
    return value() && (!attributes || attributes.empty()) &&
           llvm::none_of(notes, [](Attribute note) { return bool(note); });
  }
};

class SchemaOp : private SelfOwningTypeID, public OperationName::Impl {
public:
  SchemaOp(StringRef name, const OperatorSchemas &schemas, Dialect *dialect)
      : Impl(("onnx." + name).str(), dialect, SelfOwningTypeID::getTypeID(),
             mlir::detail::InterfaceMap()),
        schemas(schemas) {
    for (const OperatorSchemas::Version &version : schemas.versions) {
      inherent.insert_range(version.attributes);
      hasGraphs |= !version.graphs.empty();
    }
    for (StringRef name : kOwn)
      ownNames.push_back(StringAttr::get(dialect->getContext(), name));
    interfaceMap.insertModels<BytecodeModel, ResultNames>();
    // For operators with subgraphs, MLIR looks into these as well.
    if (!schemas.isRandom)
      interfaceMap.insertModels<NoEffects>();
  }

  SmallVector<StringRef> inherentNames() const {
    SmallVector<StringRef> names(inherent.keys());
    llvm::append_range(names, kBookkeeping);
    llvm::sort(names);
    return names;
  }

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>,
                         SmallVectorImpl<OpFoldResult> &) override {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &,
                                   MLIRContext *) override {}
  bool hasTrait(TypeID id) override {
    return hasGraphs && id == TypeID::get<OpTrait::HasRecursiveMemoryEffects>();
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  LogicalResult verifyInvariants(Operation *op) override {
    return verifyAgainstSchema(op, schemas);
  }
  LogicalResult verifyRegionInvariants(Operation *) override {
    return success();
  }

  OperationName::ParseAssemblyFn getParseAssemblyFn() override;
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) override;

  //===--------------------------------------------------------------------===//
  // Properties
  //===--------------------------------------------------------------------===//

  static Properties &get(OpaqueProperties properties) {
    return *properties.as<Properties *>();
  }
  static Properties &get(Operation *op) {
    return get(op->getPropertiesStorage());
  }

  std::optional<Attribute> getInherentAttr(Operation *op,
                                           StringRef name) override {
    // Called for every attribute of every dialect, so rule out most of them by
    // prefix.
    bool maybeOurs = name.starts_with("onnx");
    if (Attribute *note = maybeOurs ? get(op).find(name) : nullptr)
      return *note;
    if (!(maybeOurs ? bookkeeping() : inherent).contains(name))
      return std::nullopt;
    if (name == kValue)
      return get(op).value();
    DictionaryAttr attrs = get(op).attributes;
    return attrs ? attrs.get(name) : Attribute();
  }
  void setInherentAttr(Operation *op, StringAttr name,
                       Attribute value) override {
    Properties &properties = get(op);
    if (Attribute *own = properties.find(name)) {
      *own = value;
      return;
    }
    NamedAttrList list(properties.attributes);
    if (value)
      list.set(name, value);
    else
      list.erase(name);
    properties.attributes = list.getDictionary(op->getContext());
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &attrs) override {
    if (DictionaryAttr others = get(op).attributes)
      attrs.append(others.getValue());
    for (auto [name, own] : llvm::zip_equal(ownNames, get(op).own))
      if (own)
        attrs.append(name, own);
  }
  LogicalResult
  verifyInherentAttrs(OperationName, NamedAttrList &,
                      function_ref<InFlightDiagnostic()>) override {
    return success();
  }
  int getOpPropertyByteSize() override { return sizeof(Properties); }
  void initProperties(OperationName, OpaqueProperties storage,
                      OpaqueProperties init) override {
    new (storage.as<Properties *>()) Properties();
    if (init)
      get(storage) = get(init);
  }
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult
  setPropertiesFromAttr(OperationName, OpaqueProperties properties,
                        Attribute attr,
                        function_ref<InFlightDiagnostic()> emitError) override {
    auto attrs = dyn_cast_or_null<DictionaryAttr>(attr);
    if (!attrs)
      return emitError() << "expects a dictionary of attributes";
    // Add to the existing properties: the parser calls this after it has set
    // the attributes in braces, some of which are properties, too.
    Properties &made = get(properties);
    auto isShared = [](NamedAttribute entry) {
      return !isOwn(entry.getName());
    };
    if (!made.attributes && llvm::all_of(attrs, isShared)) {
      made.attributes = attrs; // The importer's dictionary; nothing to unique.
      return success();
    }
    NamedAttrList others(made.attributes);
    for (NamedAttribute entry : attrs)
      if (Attribute *own = made.find(entry.getName()))
        *own = entry.getValue();
      else
        others.set(entry.getName(), entry.getValue());
    made.attributes = others.getDictionary(attrs.getContext());
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) override {
    NamedAttrList attrs;
    populateInherentAttrs(op, attrs);
    return attrs.empty() ? DictionaryAttr()
                         : attrs.getDictionary(op->getContext());
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) override {
    get(to) = get(from);
  }
  bool compareProperties(OpaqueProperties lhs, OpaqueProperties rhs) override {
    return get(lhs).value() == get(rhs).value() &&
           (get(lhs).attributes == get(rhs).attributes ||
            semantics(lhs) == semantics(rhs));
  }
  llvm::hash_code hashProperties(OpaqueProperties properties) override {
    auto attrs = semantics(properties);
    return llvm::hash_combine(
        get(properties).value(),
        llvm::hash_combine_range(attrs.begin(), attrs.end()));
  }

private:
  /// The attributes that affect what the node computes, except its value.
  static SmallVector<NamedAttribute> semantics(OpaqueProperties properties) {
    SmallVector<NamedAttribute> attrs;
    if (DictionaryAttr all = get(properties).attributes)
      llvm::copy_if(all, std::back_inserter(attrs), [](NamedAttribute attr) {
        return !isBookkeeping(attr.getName());
      });
    return attrs;
  }

  const OperatorSchemas &schemas;
  llvm::StringSet<> inherent;
  SmallVector<StringAttr> ownNames; ///< as kOwn
  bool hasGraphs = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `onnx.Constant dense<…> : tensor<…>`, or with a dictionary of attributes and
/// the result type.
static ParseResult parseConstant(OpAsmParser &parser, OperationState &state) {
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  Type type;
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseType(type))
      return failure();
    state.addTypes(type);
    return success();
  }
  Attribute value;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(value))
    return failure();
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed)
    return parser.emitError(loc, "expects a constant with a type");
  state.addAttribute(isa<SparseElementsAttr>(value) ? "sparse_value" : "value",
                     value);
  state.addTypes(typed.getType());
  return success();
}

/// The generic form without quotes, which onnx-mlir prints for some operations:
/// `onnx.ConstantOfShape(%0) {value = …} : (tensor<2xi64>) -> tensor<*xf32>`.
static ParseResult parseUnquoted(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type))
    return failure();
  state.addTypes(type.getResults());
  return parser.resolveOperands(operands, type.getInputs(), loc,
                                state.operands);
}

OperationName::ParseAssemblyFn SchemaOp::getParseAssemblyFn() {
  return name.getValue() == "onnx.Constant" ? parseConstant : parseUnquoted;
}

/// Whether the short form of a constant loses nothing.
static bool isPlainConstant(Operation *op, const Properties &properties) {
  if (op->getName().getStringRef() != "onnx.Constant" ||
      !properties.isValueOnly() || !op->getDiscardableAttrs().empty() ||
      op->getNumResults() != 1 || op->getNumOperands() != 0)
    return false;
  auto value = dyn_cast<ElementsAttr>(properties.value());
  return value && value.getType() == op->getResult(0).getType();
}

/// Prints the generic form, with bookkeeping among the discardable attributes
/// as in onnx-mlir.
void SchemaOp::printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) {
  if (isPlainConstant(op, get(op))) {
    printer << "onnx.Constant ";
    printer.printAttribute(get(op).value());
    return;
  }
  printer << '"' << op->getName() << "\"(";
  printer.printOperands(op->getOperands());
  printer << ')';
  NamedAttrList properties;
  populateInherentAttrs(op, properties);
  SmallVector<NamedAttribute> inherentAttrs, others;
  for (NamedAttribute attr : properties)
    (bookkeeping().contains(attr.getName()) ? others : inherentAttrs)
        .push_back(attr);
  llvm::append_range(others, op->getDiscardableAttrs());
  llvm::sort(others);
  if (!inherentAttrs.empty()) {
    printer << " <";
    printer.printAttribute(
        DictionaryAttr::get(op->getContext(), inherentAttrs));
    printer << '>';
  }
  if (op->getNumRegions()) {
    printer << " (";
    llvm::interleaveComma(op->getRegions(), printer, [&](Region &region) {
      printer.printRegion(region, /*printEntryBlockArgs=*/true,
                          /*printBlockTerminators=*/true,
                          /*printEmptyBlock=*/true);
    });
    printer << ')';
  }
  printer.printOptionalAttrDict(others);
  printer << " : ";
  printer.printFunctionalType(op);
}

void htp::onnx::registerSchemaOps(ONNXDialect &dialect) {
  forEachOperator([&](StringRef name, const OperatorSchemas &schemas) {
    auto op = std::make_unique<SchemaOp>(name, schemas, &dialect);
    SmallVector<StringRef> names = op->inherentNames();
    RegisteredOperationName::insert(std::move(op), names);
  });
}
