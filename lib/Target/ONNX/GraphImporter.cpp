// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports graphs and functions: inputs, initializers, types and value infos.
// NodeImporter.cpp has the nodes.

#include "GraphImporter.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"
#include "HTP/Target/ONNX/Wire.h"
#include "NodeOrder.h"
#include "Types.h"

using namespace mlir;
using namespace htp;
using google::protobuf::RepeatedPtrField;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::TensorProto;
using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

GraphImporter::GraphImporter(MLIRContext *context,
                             std::shared_ptr<ModelFile> file,
                             MetadataSink *sink)
    : context(context), file(file), encoder(context, file),
      tensors(context, file), sink(sink), builder(context),
      nodeNameKey(builder.getStringAttr(htp::onnx::kNodeName)),
      outputNamesKey(builder.getStringAttr(htp::onnx::kOutputNames)) {}

InFlightDiagnostic GraphImporter::emitError() const {
  InFlightDiagnostic diagnostic =
      mlir::emitError(FileLineColLoc::get(context, file->path(), 0, 0));
  if (!subject.text.empty())
    diagnostic << subject.text << ' ';
  if (subject.node)
    diagnostic << describe(*subject.node, subject.index) << ' ';
  if (subject.attribute)
    diagnostic << "attribute '" << subject.attribute->name() << "' ";
  return diagnostic;
}

/// "node '/fc/MatMul' (MatMul)", or with its position if it has no name.
std::string GraphImporter::describe(const ::onnx::NodeProto &node, int index) {
  std::string name = node.name().empty() ? "#" + std::to_string(index)
                                         : "'" + node.name() + "'";
  std::string type = node.op_type().empty() ? "" : " (" + node.op_type() + ")";
  return "node " + name + type;
}

bool GraphImporter::showMetadata(const ::onnx::NodeProto &node, TakeFn take,
                                 NamedAttrList &attrs) const {
  std::optional<StringRef> notes = file->notes(node);
  if (!notes)
    return showMetadata(node.metadata_props(), take, attrs);
  if (!sink)
    return false;
  SmallVector<MetadataSink::Entry, 16> entries;
  wire::forEachPair(*notes, [&](wire::Pair pair) {
    entries.push_back({pair.first, pair.second});
  });
  const size_t before = entries.size();
  take(*sink, entries);
  if (entries.size() == before)
    return false;
  SmallVector<Attribute> rest;
  for (auto [key, value] : entries)
    rest.push_back(Builder(context).getStrArrayAttr({key, value}));
  if (!rest.empty())
    attrs.append("metadata_props", ArrayAttr::get(context, rest));
  return true;
}

bool GraphImporter::showMetadata(const MetadataEntries &metadata, TakeFn take,
                                 NamedAttrList &attrs) const {
  if (!sink)
    return false;
  // Entries without key or value, or with unknown fields, are not for the sink.
  auto isPair = [](const ::onnx::StringStringEntryProto &entry) {
    return entry.has_key() && entry.has_value() &&
           entry.unknown_fields().empty();
  };
  SmallVector<MetadataSink::Entry, 16> entries;
  for (const auto &entry : metadata)
    if (isPair(entry))
      entries.push_back({entry.key(), entry.value()});
  const size_t before = entries.size();
  take(*sink, entries);
  if (entries.size() == before)
    return false;
  // Remaining entries keep their order.
  SmallVector<Attribute> rest;
  auto *left = entries.begin();
  for (const auto &entry : metadata) {
    // Empty strings may share their address with missing ones.
    bool isLeft = isPair(entry) && left != entries.end() &&
                  left->key.data() == entry.key().data();
    if (isLeft)
      ++left;
    if (isLeft || !isPair(entry))
      rest.push_back(encoder.encodeMessage(entry));
  }
  if (!rest.empty())
    attrs.append("metadata_props", ArrayAttr::get(context, rest));
  return true;
}

//===----------------------------------------------------------------------===//
// Values and their types
//===----------------------------------------------------------------------===//

/// The first type given for a name counts.
static void addTypes(const RepeatedPtrField<ValueInfoProto> &infos,
                     llvm::StringMap<const TypeProto *> &types) {
  for (const ValueInfoProto &info : infos)
    if (info.has_type())
      types.try_emplace(info.name(), &info.type());
}

FailureOr<Type> GraphImporter::getType(StringRef name) {
  Scope &scope = scopes.back();
  std::string error;
  if (const TypeProto *proto = scope.types.lookup(name)) {
    if (Type type = importType(*proto, context, error))
      return type;
    subject = {("value '" + name + "'").str()};
    return emitError() << error;
  }
  return Type(NoneType::get(context));
}

/// Sets inferred types of values for which the model states none.
void GraphImporter::setInferredTypes(const GraphProto &inferred) {
  Scope &scope = scopes.back();
  auto set = [&](const RepeatedPtrField<ValueInfoProto> &infos) {
    for (const ValueInfoProto &info : infos) {
      Value value = scope.values.lookup(info.name());
      if (!value || !isa<NoneType>(value.getType()) || !info.has_type() ||
          scope.types.contains(info.name()))
        continue;
      // Ignore errors: inference can be wrong even if the model is correct.
      std::string error;
      if (Type type = importType(info.type(), context, error))
        value.setType(type);
    }
  };
  set(inferred.output());
  set(inferred.value_info());
}

LogicalResult GraphImporter::define(StringRef name, Value value) {
  if (name.empty() || scopes.back().values.try_emplace(name, value).second)
    return success();
  return emitError() << "defines value '" << name
                     << "', which is already defined";
}

Value GraphImporter::lookup(StringRef name) const {
  for (const Scope &scope : llvm::reverse(scopes))
    if (Value value = scope.values.lookup(name))
      return value;
  return {};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::importGraph(const GraphProto &graph,
                                         InferredGraph inferred,
                                         ArrayRef<int> order, Block *block,
                                         GraphInfo &info,
                                         SmallVectorImpl<Value> &results) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  const size_t values =
      graph.input_size() + graph.initializer_size() + graph.node_size();
  scopes.emplace_back(values);
  // Types stated in the model take precedence, so that it can be written back
  // unchanged.
  Scope &scope = scopes.back();
  addTypes(graph.output(), scope.types);
  addTypes(graph.value_info(), scope.types);

  SmallVector<int> skip = {GraphProto::kNodeFieldNumber,
                           GraphProto::kNameFieldNumber,
                           GraphProto::kInitializerFieldNumber,
                           GraphProto::kSparseInitializerFieldNumber,
                           GraphProto::kInputFieldNumber,
                           GraphProto::kOutputFieldNumber,
                           GraphProto::kValueInfoFieldNumber};
  auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
    sink.takeFromFunction(entries, info.attrs);
  };
  if (showMetadata(graph.metadata_props(), take, info.attrs))
    skip.push_back(GraphProto::kMetadataPropsFieldNumber);
  encoder.encodeFields(graph, info.attrs, skip);
  if (graph.has_name())
    info.attrs.append("graph_name", builder.getStringAttr(graph.name()));
  auto inferredNode = [&](int index) -> const ::onnx::NodeProto & {
    const Nodes &nodes = inferred().node();
    return index < nodes.size() ? nodes[index] : graph.node(index);
  };
  auto importAll = [&]() -> LogicalResult {
    if (failed(importInputs(graph, block, info)) ||
        failed(importInitializers(graph, info)) ||
        failed(importNodes(graph.node(), inferredNode, order)))
      return failure();
    setInferredTypes(inferred());
    if (failed(importOutputs(graph, info, results)))
      return failure();
    importValueInfos(graph.value_info(), info);
    return success();
  };
  LogicalResult result = importAll();
  scopes.pop_back();
  return result;
}

LogicalResult GraphImporter::importFunction(const FunctionProto &function,
                                            Block *block, GraphInfo &info,
                                            SmallVectorImpl<Value> &results) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  scopes.clear();
  scopes.emplace_back(function.node_size());
  addTypes(function.value_info(), scopes.back().types);
  SmallVector<int> skip = {
      FunctionProto::kNameFieldNumber,     FunctionProto::kDomainFieldNumber,
      FunctionProto::kOverloadFieldNumber, FunctionProto::kInputFieldNumber,
      FunctionProto::kOutputFieldNumber,   FunctionProto::kNodeFieldNumber,
      FunctionProto::kValueInfoFieldNumber};
  auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
    sink.takeFromFunction(entries, info.attrs);
  };
  if (showMetadata(function.metadata_props(), take, info.attrs))
    skip.push_back(FunctionProto::kMetadataPropsFieldNumber);
  encoder.encodeFields(function, info.attrs, skip);
  // Mark a function without opset imports, or export would take it for one
  // created by a pass.
  if (function.opset_import().empty())
    info.attrs.append("opset_import", builder.getArrayAttr({}));
  std::string name = "function '" + function.name() + "'";
  auto named = [&](StringRef value) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr("name", builder.getStringAttr(value)));
  };
  for (const std::string &input : function.input()) {
    FailureOr<Type> type = getType(input);
    if (failed(type))
      return failure();
    subject = {name};
    if (failed(
            define(input, block->addArgument(*type, builder.getUnknownLoc()))))
      return failure();
    info.inputs.push_back(named(input));
  }
  // Types inside of functions are not inferred: they depend on the call.
  auto sameNode = [&](int index) -> const ::onnx::NodeProto & {
    return function.node(index);
  };
  if (failed(
          importNodes(function.node(), sameNode, sortNodes(function.node()))))
    return failure();
  subject = {name};
  for (const std::string &output : function.output()) {
    Value value = lookup(output);
    if (!value)
      return emitError() << "has output '" << output
                         << "', which nothing produces";
    results.push_back(value);
    info.outputs.push_back(named(output));
  }
  importValueInfos(function.value_info(), info);
  return success();
}

/// Graph inputs become block arguments. An initializer of the same name is the
/// input's default value.
LogicalResult GraphImporter::importInputs(const GraphProto &graph, Block *block,
                                          GraphInfo &info) {
  llvm::StringMap<const TensorProto *> defaults;
  for (const TensorProto &tensor : graph.initializer())
    defaults[tensor.name()] = &tensor;
  for (const ValueInfoProto &input : graph.input()) {
    subject = {"graph input '" + input.name() + "'"};
    std::string error;
    Type type = importType(input.type(), context, error);
    if (!type)
      return emitError() << error;
    Value argument = block->addArgument(type, builder.getUnknownLoc());
    if (failed(define(input.name(), argument)))
      return failure();
    NamedAttrList attrs;
    attrs.append("name", builder.getStringAttr(input.name()));
    auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
      sink.takeFromInput(entries, attrs);
    };
    bool taken = showMetadata(input.metadata_props(), take, attrs);
    importValueInfo(input, type, encoder, attrs, /*skipMetadata=*/taken);
    if (const TensorProto *tensor = defaults.lookup(input.name())) {
      subject = {"initializer '" + input.name() + "'"};
      NamedAttrList rest;
      Attribute value = tensors.import(*tensor, rest, error);
      if (!value)
        return emitError() << error;
      rest.erase("name");
      if (!tensor->has_name())
        rest.append("no_name", builder.getUnitAttr());
      attrs.append("default", value);
      if (!rest.empty())
        attrs.append("default_info", rest.getDictionary(context));
    }
    info.inputs.push_back(attrs.getDictionary(context));
  }
  return success();
}

/// Other initializers become constants at the top of the block.
LogicalResult GraphImporter::importInitializers(const GraphProto &graph,
                                                GraphInfo &info) {
  llvm::StringMap<unsigned> inputs;
  for (const ValueInfoProto &input : graph.input())
    inputs.try_emplace(input.name(), inputs.size());
  SmallVector<Attribute> names;
  llvm::StringSet<> seen;
  // The exporter writes defaults in the order of the inputs, then the
  // constants.
  bool inOrder = true, constantSeen = false;
  unsigned lastInput = 0;
  for (const TensorProto &tensor : graph.initializer()) {
    subject = {"initializer '" + tensor.name() + "'"};
    if (!seen.insert(tensor.name()).second)
      return emitError() << "is defined twice";
    names.push_back(builder.getStringAttr(tensor.name()));
    auto input = inputs.find(tensor.name());
    if (input != inputs.end()) {
      inOrder &= !constantSeen && input->second >= lastInput;
      lastInput = input->second;
      continue;
    }
    constantSeen = true;
    if (failed(importInitializer(tensor)))
      return failure();
  }
  for (const ::onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    if (failed(importSparseInitializer(tensor)))
      return failure();
  if (!inOrder)
    info.attrs.append("initializer_order", builder.getArrayAttr(names));
  return success();
}

static Location getInitializerLoc(StringRef name, MLIRContext *context) {
  return NameLoc::get(StringAttr::get(context, "Initializer_" + name));
}

LogicalResult GraphImporter::importInitializer(const TensorProto &tensor) {
  OperationState state(getInitializerLoc(tensor.name(), context),
                       "onnx.Constant");
  NamedAttrList rest;
  auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
    sink.takeFromInitializer(entries, state);
  };
  bool taken = showMetadata(tensor.metadata_props(), take, rest);
  std::string error;
  Attribute value = tensors.import(tensor, rest, error, /*skipMetadata=*/taken);
  if (!value)
    return emitError() << error;
  state.addAttribute("value", value);
  state.addAttribute(htp::onnx::kInitializer, builder.getUnitAttr());
  state.addAttribute(htp::onnx::kOutputNames,
                     builder.getStrArrayAttr({tensor.name()}));
  if (!tensor.has_name())
    state.addAttribute(htp::onnx::kNoName, builder.getUnitAttr());
  rest.erase("name");
  for (NamedAttribute attr : rest)
    state.addAttribute(("onnx." + attr.getName().getValue()).str(),
                       attr.getValue());
  state.addTypes(cast<TypedAttr>(value).getType());
  return define(tensor.name(), create(state)->getResult(0));
}

LogicalResult GraphImporter::importSparseInitializer(
    const ::onnx::SparseTensorProto &tensor) {
  StringRef name = tensor.values().name();
  subject = {("sparse initializer '" + name + "'").str()};
  Type element =
      htp::onnx::getElementType(tensor.values().data_type(), context);
  if (!element)
    return emitError() << "has data type " << tensor.values().data_type()
                       << ", which ONNX does not have";
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (llvm::any_of(dims, [](int64_t dim) { return dim < 0; }))
    return emitError() << "has a negative dimension";
  OperationState state(getInitializerLoc(name, context), "onnx.Constant");
  state.addAttribute("sparse_value", encoder.encode(tensor));
  state.addAttribute(htp::onnx::kInitializer, builder.getUnitAttr());
  state.addAttribute(htp::onnx::kOutputNames, builder.getStrArrayAttr({name}));
  if (!tensor.values().has_name())
    state.addAttribute(htp::onnx::kNoName, builder.getUnitAttr());
  state.addTypes(RankedTensorType::get(dims, element));
  return define(name, create(state)->getResult(0));
}

LogicalResult GraphImporter::importOutputs(const GraphProto &graph,
                                           GraphInfo &info,
                                           SmallVectorImpl<Value> &results) {
  for (const ValueInfoProto &output : graph.output()) {
    subject = {"graph output '" + output.name() + "'"};
    Value value = lookup(output.name());
    if (!value)
      return emitError() << "is a value that nothing produces";
    results.push_back(value);
    NamedAttrList attrs;
    attrs.append("name", builder.getStringAttr(output.name()));
    importValueInfo(output, value.getType(), encoder, attrs);
    info.outputs.push_back(attrs.getDictionary(context));
  }
  return success();
}

/// `value_info` is a list of names, in file order; an entry that says more than
/// the value's type is a dictionary.
void GraphImporter::importValueInfos(const ValueInfos &infos, GraphInfo &info) {
  SmallVector<Attribute> entries;
  for (const ValueInfoProto &entry : infos) {
    Value value = scopes.back().values.lookup(entry.name());
    NamedAttrList attrs;
    // Without a value there is no type to compare with, so keep everything.
    importValueInfo(entry, value ? value.getType() : NoneType::get(context),
                    encoder, attrs);
    Attribute name = builder.getStringAttr(entry.name());
    if (!value)
      attrs.append("detached", builder.getUnitAttr());
    if (!attrs.empty())
      attrs.append("name", name);
    entries.push_back(attrs.empty() ? name : attrs.getDictionary(context));
  }
  if (!entries.empty())
    info.attrs.append("value_info", builder.getArrayAttr(entries));
}

/// Creates an operation with all properties at once. MLIR would set them one by
/// one and unique an intermediate dictionary for each. Properties stored
/// outside of the dictionary are set separately.
Operation *GraphImporter::create(OperationState &state) {
  ArrayRef<StringAttr> inherent = state.name.getAttributeNames();
  NamedAttrList own, properties, discardable;
  for (NamedAttribute attr : state.attributes) {
    if (!llvm::is_contained(inherent, attr.getName()))
      discardable.append(attr);
    else if (htp::onnx::isOwn(attr.getName()))
      own.append(attr);
    else
      properties.append(attr);
  }
  state.attributes = std::move(discardable);
  if (!properties.empty())
    state.propertiesAttr = properties.getDictionary(context);
  Operation *op = builder.create(state);
  for (NamedAttribute attr : own)
    op->setInherentAttr(attr.getName(), attr.getValue());
  return op;
}
