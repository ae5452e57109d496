// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports graphs and functions: inputs, outputs, initializers and value infos.
// NodeExporter.cpp has the nodes.

#include "GraphExporter.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"
#include "NodeOrder.h"
#include "Tensors.h"
#include "Types.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace htp;
using google::protobuf::RepeatedPtrField;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

InFlightDiagnostic GraphExporter::emitError() const {
  return current->emitError() << "'" << current->getName() << "' ";
}

//===----------------------------------------------------------------------===//
// What describes a graph
//===----------------------------------------------------------------------===//

/// The attributes whose names start with `onnx.`, with that prefix removed.
static DictionaryAttr withoutPrefix(DictionaryAttr attrs,
                                    MLIRContext *context) {
  NamedAttrList plain;
  if (attrs)
    for (NamedAttribute attr : attrs)
      if (StringRef name = attr.getName(); name.consume_front("onnx."))
        plain.append(name, attr.getValue());
  return plain.getDictionary(context);
}

GraphExporter::Source GraphExporter::getSource(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  Source source;
  source.block = &function.getBody().front();
  source.function = function;
  source.attrs =
      withoutPrefix(function->getDiscardableAttrDictionary(), context);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    source.inputs.push_back(withoutPrefix(function.getArgAttrDict(i), context));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    source.outputs.push_back(
        withoutPrefix(function.getResultAttrDict(i), context));
  source.outputTypes.assign(function.getResultTypes().begin(),
                            function.getResultTypes().end());
  return source;
}

/// Expands a list whose entries are dictionaries, or strings that stand for a
/// dictionary with just a name.
static SmallVector<DictionaryAttr> unpack(DictionaryAttr info, StringRef key,
                                          unsigned count,
                                          MLIRContext *context) {
  SmallVector<DictionaryAttr> entries;
  Builder builder(context);
  auto list = info ? info.getAs<ArrayAttr>(key) : ArrayAttr();
  for (unsigned i = 0; i < count; ++i) {
    Attribute entry = list && i < list.size() ? list[i] : Attribute();
    if (auto name = dyn_cast_or_null<StringAttr>(entry))
      entry = builder.getDictionaryAttr(builder.getNamedAttr("name", name));
    auto dict = dyn_cast_or_null<DictionaryAttr>(entry);
    entries.push_back(dict ? dict : builder.getDictionaryAttr({}));
  }
  return entries;
}

GraphExporter::Source GraphExporter::getSource(Region &region,
                                               DictionaryAttr info) {
  MLIRContext *context = region.getContext();
  Source source;
  source.block = &region.front();
  source.attrs = info ? info : DictionaryAttr::get(context);
  source.inputs =
      unpack(info, "inputs", source.block->getNumArguments(), context);
  source.outputs =
      unpack(info, "outputs", source.block->getTerminator()->getNumOperands(),
             context);
  return source;
}

static StringRef getName(DictionaryAttr entry) {
  auto name = entry.getAs<StringAttr>("name");
  return name ? name.getValue() : "";
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

LogicalResult GraphExporter::exportGraph(func::FuncOp function,
                                         GraphProto &graph) {
  current = function;
  inFunction = false;
  Source source = getSource(function);
  return exportBlock(source, graph);
}

LogicalResult GraphExporter::exportBlock(Source &source, GraphProto &graph) {
  Operation *parent = current;
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  static constexpr StringRef kOwn[] = {"attribute",         "graph_name",
                                       "initializer_order", "inputs",
                                       "outputs",           "value_info"};
  SmallVector<NamedAttribute> fields;
  for (NamedAttribute attr : source.attrs)
    if (!llvm::is_contained(kOwn, attr.getName().getValue()))
      fields.push_back(attr);
  if (failed(decoder.decode(fields, graph)))
    return failure();
  if (source.function)
    addMetadata(options, source.function, graph);
  if (auto name = source.attrs.getAs<StringAttr>("graph_name"))
    graph.set_name(name.str());

  names.pushScope(source.block);
  std::vector<std::string> outputs;
  reserveOutputs(source, outputs);
  if (failed(exportInputs(source, graph)) ||
      failed(exportDefaults(source, graph)) ||
      failed(exportBody(source.block, &graph, *graph.mutable_node())))
    return failure();
  current = parent;
  addIdentities(source, outputs, *graph.mutable_node());
  orderInitializers(source, graph);
  SmallVector<Type> types = source.outputTypes;
  if (types.empty())
    types.assign(source.block->getTerminator()->operand_type_begin(),
                 source.block->getTerminator()->operand_type_end());
  for (auto [name, type, info] :
       llvm::zip_equal(outputs, types, source.outputs))
    if (failed(exportValueInfo(name, type, info, decoder, *graph.add_output())))
      return failure();
  if (failed(exportValueInfos(source, *graph.mutable_value_info())))
    return failure();
  names.popScope();
  return success();
}

LogicalResult GraphExporter::exportFunction(func::FuncOp function,
                                            FunctionProto &proto) {
  current = function;
  inFunction = true;
  Source source = getSource(function);
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  auto text = [&](StringRef key) {
    return source.attrs.getAs<StringAttr>(key);
  };
  StringAttr name = text("function_name");
  // A function that had no name in the file does not get one.
  if (name || !function->hasAttr("onnx.opset_import"))
    proto.set_name(name ? name.str() : function.getSymName().str());
  if (StringAttr domain = text("function_domain"))
    proto.set_domain(domain.str());
  if (StringAttr overload = text("function_overload"))
    proto.set_overload(overload.str());
  SmallVector<NamedAttribute> fields;
  for (NamedAttribute attr : source.attrs)
    if (FunctionProto::descriptor()->FindFieldByName(attr.getName().str()) &&
        attr.getName() != "value_info")
      fields.push_back(attr);
    else if (attr.getName() == "unknown_fields")
      fields.push_back(attr);
  if (failed(decoder.decode(fields, proto)))
    return failure();
  addMetadata(options, source.function, proto);

  names.pushScope(source.block);
  std::vector<std::string> outputs;
  reserveOutputs(source, outputs);
  for (auto [argument, info] :
       llvm::zip_equal(source.block->getArguments(), source.inputs)) {
    nameInput(argument, info);
    proto.add_input(names.get(argument).str());
  }
  if (failed(exportBody(source.block, nullptr, *proto.mutable_node())))
    return failure();
  current = function;
  addIdentities(source, outputs, *proto.mutable_node());
  for (const std::string &output : outputs)
    proto.add_output(output);
  if (failed(exportValueInfos(source, *proto.mutable_value_info())))
    return failure();
  names.popScope();
  return success();
}

LogicalResult GraphExporter::exportBody(Block *block, GraphProto *graph,
                                        RepeatedPtrField<NodeProto> &nodes) {
  SmallVector<Operation *> exported;
  for (Operation &op : block->without_terminator()) {
    current = &op;
    if (isa<htp::onnx::NoValueOp>(op))
      continue;
    nameResults(&op);
    // A function has no initializers: there they are Constant nodes.
    bool isInitializer = graph && op.hasAttr(htp::onnx::kInitializer);
    if (isInitializer ? failed(exportInitializer(&op, *graph))
                      : failed(exportNode(&op, *nodes.Add())))
      return failure();
    if (!isInitializer)
      exported.push_back(&op);
  }
  restoreOrder(exported, nodes);
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// Chooses the names of outputs. A value that is returned under a different
/// name takes that name if possible.
void GraphExporter::reserveOutputs(Source &source,
                                   std::vector<std::string> &outputs) {
  Operation *terminator = source.block->getTerminator();
  for (auto [value, info] :
       llvm::zip_equal(terminator->getOperands(), source.outputs)) {
    StringRef wanted = getName(info);
    auto result = dyn_cast<OpResult>(value);
    bool isLocal = result && result.getOwner()->getBlock() == source.block;
    StringRef recorded = isLocal ? getRecordedName(result) : StringRef();
    std::string name = wanted.empty() ? recorded.str() : wanted.str();
    if (name.empty())
      name = names.fresh("output");
    outputs.push_back(name);
    bool canRename = isLocal && !isa<htp::onnx::NoValueOp>(result.getOwner()) &&
                     !result.getOwner()->hasAttr(htp::onnx::kInitializer);
    if (recorded == name ||
        (canRename && outputNames.try_emplace(value, name).second))
      names.reserve(name, value);
    else if (isLocal)
      names.reserve(name, Value());
  }
}

/// Adds an Identity for each output whose name is not that of the returned
/// value.
void GraphExporter::addIdentities(Source &source, ArrayRef<std::string> outputs,
                                  RepeatedPtrField<NodeProto> &nodes) {
  Operation *terminator = source.block->getTerminator();
  for (auto [name, value] :
       llvm::zip_equal(outputs, terminator->getOperands())) {
    StringRef own = names.get(value);
    if (own == name)
      continue;
    NodeProto &copy = *nodes.Add();
    copy.set_op_type("Identity");
    copy.add_input(own.str());
    copy.add_output(name);
  }
}

/// Names an input. One that has no name in the file and no users needs none.
void GraphExporter::nameInput(BlockArgument argument, DictionaryAttr info) {
  if (info.contains("name") && getName(info).empty() && argument.use_empty())
    return;
  names.assign(argument, getName(info), "input");
}

LogicalResult GraphExporter::exportInputs(Source &source, GraphProto &graph) {
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  for (auto [argument, info] :
       llvm::zip_equal(source.block->getArguments(), source.inputs)) {
    nameInput(argument, info);
    ValueInfoProto &input = *graph.add_input();
    if (failed(exportValueInfo(names.get(argument), argument.getType(), info,
                               decoder, input)))
      return failure();
    addMetadata(options, argument, input);
  }
  return success();
}

/// `hadNone`: the tensor had no name in the file. It gets one if it is needed.
static void setName(StringRef name, bool hadNone, TensorProto &tensor) {
  if (!hadNone || !name.empty())
    tensor.set_name(name.str());
}

LogicalResult GraphExporter::exportDefaults(Source &source, GraphProto &graph) {
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  for (auto [argument, info] :
       llvm::zip_equal(source.block->getArguments(), source.inputs)) {
    Attribute value = info.get("default");
    if (!value)
      continue;
    std::string error;
    TensorProto &tensor = *graph.add_initializer();
    auto rest = info.getAs<DictionaryAttr>("default_info");
    setName(names.get(argument), rest && rest.contains("no_name"), tensor);
    if (failed(exportTensor(value, rest, decoder, writer, tensor, error)))
      return error.empty() ? failure()
                           : emitError() << "default of input '"
                                         << tensor.name() << "' " << error;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Initializers and value infos
//===----------------------------------------------------------------------===//

LogicalResult GraphExporter::exportInitializer(Operation *op,
                                               GraphProto &graph) {
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  StringRef name = names.get(op->getResult(0));
  if (auto sparse = op->getAttrOfType<DictionaryAttr>("sparse_value")) {
    auto &tensor = *graph.add_sparse_initializer();
    if (failed(decoder.decode(sparse.getValue(), tensor)))
      return failure();
    setName(name, op->hasAttr(htp::onnx::kNoName), *tensor.mutable_values());
    return success();
  }
  TensorProto &tensor = *graph.add_initializer();
  setName(name, op->hasAttr(htp::onnx::kNoName), tensor);
  NamedAttrList rest;
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op))
    if (StringRef field = attr.getName();
        field.consume_front("onnx.") &&
        (field == "storage" || field == "unknown_fields" ||
         TensorProto::descriptor()->FindFieldByName(field.str())))
      rest.append(field, attr.getValue());
  std::string error;
  if (failed(exportTensor(op->getAttr("value"),
                          rest.getDictionary(op->getContext()), decoder, writer,
                          tensor, error)))
    return error.empty() ? failure()
                         : emitError() << "named '" << name << "' " << error;
  addMetadata(options, op, tensor);
  return success();
}

/// Restores the file's order of initializers if it was not the default (inputs
/// first).
void GraphExporter::orderInitializers(Source &source, GraphProto &graph) {
  auto order = source.attrs.getAs<ArrayAttr>("initializer_order");
  if (!order)
    return;
  llvm::StringMap<unsigned> positions;
  for (StringAttr name : order.getAsRange<StringAttr>())
    positions.try_emplace(name.getValue(), positions.size());
  // Initializers added by passes come last.
  for (const TensorProto &tensor : graph.initializer())
    positions.try_emplace(tensor.name(), positions.size());
  auto &tensors = *graph.mutable_initializer();
  std::sort(tensors.pointer_begin(), tensors.pointer_end(),
            [&](const TensorProto *a, const TensorProto *b) {
              return positions.lookup(a->name()) < positions.lookup(b->name());
            });
}

LogicalResult
GraphExporter::exportValueInfos(Source &source,
                                RepeatedPtrField<ValueInfoProto> &infos) {
  auto entries = source.attrs.getAs<ArrayAttr>("value_info");
  if (!entries)
    return success();
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  for (DictionaryAttr entry : unpack(source.attrs, "value_info", entries.size(),
                                     entries.getContext())) {
    StringRef name = getName(entry);
    Value value = names.find(name);
    // The value may be gone, or a pass may have merged it into another.
    if (!value && !entry.contains("detached"))
      continue;
    Type type = value ? value.getType() : NoneType::get(entries.getContext());
    if (failed(exportValueInfo(name, type, entry, decoder, *infos.Add())))
      return failure();
  }
  return success();
}
