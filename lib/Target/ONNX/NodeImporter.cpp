// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of GraphImporter that imports nodes as operations.

#include "GraphImporter.h"
#include "NodeOrder.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace htp;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

//===----------------------------------------------------------------------===//
// Order of nodes
//===----------------------------------------------------------------------===//

/// Explains why `name` is unknown at node `index` of `nodes`, which uses it.
std::string GraphImporter::explainMissing(const Nodes &nodes, int index,
                                          StringRef name) {
  std::string message = ("uses value '" + name + "', ").str();
  int producer = -1;
  llvm::StringMap<int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      producers.try_emplace(output, i);
  auto it = producers.find(name);
  if (it == producers.end())
    return message + "which nothing produces";
  producer = it->second;
  // Does the producer depend on this node?
  SmallVector<int> worklist = {producer};
  llvm::DenseSet<int> visited(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    int current = worklist.pop_back_val();
    if (current == index)
      return message + "which depends on its own output through " +
             describe(nodes[producer], producer) + ": the graph has a cycle";
    for (const std::string &input : nodes[current].input())
      if (auto source = producers.find(input);
          source != producers.end() && visited.insert(source->second).second)
        worklist.push_back(source->second);
  }
  return message + "which only " + describe(nodes[producer], producer) +
         " after it produces: nodes must be in topological order";
}

LogicalResult GraphImporter::importNodes(const Nodes &nodes,
                                         InferredNode inferred,
                                         ArrayRef<int> order) {
  enclosingNodes.push_back(&nodes);
  for (int next = 0; next < nodes.size(); ++next) {
    int i = order.empty() ? next : order[next];
    if (failed(importNode(nodes[i], inferred, i)))
      return failure();
    if (!order.empty())
      builder.getInsertionBlock()->back().setAttr(kPosition,
                                                  builder.getI64IntegerAttr(i));
  }
  enclosingNodes.pop_back();
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Whether the operator has its own operation: any operator of the default
/// domain, and those of other ONNX domains that have a schema. All others
/// become onnx.Custom, as do operators whose names mean something else in this
/// dialect.
static bool hasOwnOperation(const NodeProto &node) {
  StringRef type = node.op_type();
  static constexpr StringLiteral kStructural[] = {"Return", "Yield", "NoValue",
                                                  "EntryPoint", "Custom"};
  if (llvm::is_contained(kStructural, type) || type.empty() ||
      !llvm::all_of(type, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return false;
  StringRef domain = node.domain();
  if (domain == "ai.onnx")
    domain = "";
  std::optional<StringRef> known = htp::onnx::findDomain(type);
  return known ? *known == domain : domain.empty();
}

/// The name of the operation, and the attributes that name the operator.
void GraphImporter::importOperator(const NodeProto &node,
                                   OperationState &state) {
  auto known = node.has_domain() ? plainOperations.end()
                                 : plainOperations.find(node.op_type());
  if (known != plainOperations.end()) {
    state.name = known->second;
    return;
  }
  if (!hasOwnOperation(node)) {
    state.name = OperationName("onnx.Custom", context);
    state.addAttribute("function_name", builder.getStringAttr(node.op_type()));
    if (node.has_domain())
      state.addAttribute("domain_name", builder.getStringAttr(node.domain()));
    return;
  }
  state.name = OperationName("onnx." + node.op_type(), context);
  if (!node.has_domain())
    plainOperations.try_emplace(node.op_type(), state.name);
  std::string usual = htp::onnx::findDomain(node.op_type()).value_or("").str();
  if (node.has_domain() && (node.domain() != usual || usual.empty()))
    state.addAttribute("onnx.domain", builder.getStringAttr(node.domain()));
}

/// Whether a node has unusual fields, metadata aside. A cheap check, as
/// protobuf's reflection would take longer than the rest of importing a plain
/// node.
static bool hasMore(const NodeProto &node, const ModelFile &file) {
  static const bool knowsAll = NodeProto::descriptor()->field_count() == 10;
  const auto &unknown = node.unknown_fields();
  bool isPlain = unknown.empty() || (unknown.field_count() == 1 &&
                                     file.isStandIn(unknown.field(0)));
  return !knowsAll || node.has_doc_string() || node.has_overload() ||
         node.device_configurations_size() || !isPlain;
}

FailureOr<Value> GraphImporter::importOperand(StringRef name) {
  if (!name.empty())
    return lookup(name);
  for (const Scope &scope : scopes)
    if (scope.noValue)
      return scope.noValue;
  auto noValue = htp::onnx::NoValueOp::create(builder, builder.getUnknownLoc(),
                                              builder.getNoneType(),
                                              builder.getUnitAttr());
  return scopes.back().noValue = noValue.getNone();
}

LogicalResult GraphImporter::importNode(const NodeProto &node,
                                        InferredNode inferred, int index) {
  subject = {"", &node, index};
  if (!node.has_op_type())
    return emitError() << "has no operator";
  StringAttr name = builder.getStringAttr(node.name());
  StringAttr label =
      node.name().empty()
          ? builder.getStringAttr(node.op_type() + "#" + std::to_string(index))
          : name;
  OperationState state(NameLoc::get(label), "onnx.Custom");
  importOperator(node, state);
  for (const std::string &input : node.input()) {
    FailureOr<Value> value = importOperand(input);
    if (!*value)
      return emitError() << explainMissing(*enclosingNodes.back(), index,
                                           input);
    state.addOperands(*value);
  }
  if (node.has_name())
    state.addAttribute(nodeNameKey, name);
  SmallVector<StringRef> outputs(node.output().begin(), node.output().end());
  if (!outputs.empty())
    state.addAttribute(outputNamesKey, builder.getStrArrayAttr(outputs));
  for (StringRef output : outputs) {
    FailureOr<Type> type = getType(output);
    if (failed(type))
      return failure();
    state.addTypes(*type);
  }
  if (failed(importAttributes(node, inferred, index, state)))
    return failure();
  subject = {"", &node, index};
  SmallVector<int> skip = {
      NodeProto::kInputFieldNumber,  NodeProto::kOutputFieldNumber,
      NodeProto::kNameFieldNumber,   NodeProto::kOpTypeFieldNumber,
      NodeProto::kDomainFieldNumber, NodeProto::kAttributeFieldNumber};
  NamedAttrList rest;
  auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
    sink.takeFromNode(entries, state);
  };
  bool taken = showMetadata(node, take, rest);
  if (taken)
    skip.push_back(NodeProto::kMetadataPropsFieldNumber);
  if (hasMore(node, *file) ||
      (!taken && (node.metadata_props_size() || file->notes(node))))
    encoder.encodeFields(node, rest, skip);
  for (NamedAttribute attr : rest)
    state.addAttribute(("onnx." + attr.getName().getValue()).str(),
                       attr.getValue());
  Operation *op = create(state);
  for (auto [output, result] : llvm::zip_equal(outputs, op->getResults()))
    if (failed(define(output, result)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes and subgraphs
//===----------------------------------------------------------------------===//

/// As in onnx-mlir, a data type number is represented as a type.
static bool isDataType(const NodeProto &node, const AttributeProto &attribute) {
  return node.op_type() == "Cast" && attribute.name() == "to";
}

/// Whether the attribute can be stored under its own name in the dictionary.
static bool hasOwnName(const NodeProto &node, StringRef name) {
  if (name.empty() || htp::onnx::isReservedAttrName(name) ||
      name.contains('\0'))
    return false;
  return (name != "function_name" && name != "domain_name") ||
         hasOwnOperation(node);
}

/// The graphs of an attribute that is imported as regions.
static SmallVector<const GraphProto *> getGraphs(const AttributeProto &proto) {
  SmallVector<const GraphProto *> graphs;
  if (proto.has_g())
    graphs.push_back(&proto.g());
  for (const GraphProto &graph : proto.graphs())
    graphs.push_back(&graph);
  return graphs;
}

/// The order of regions is that of the attributes, except that the then-branch
/// of an If comes first, as in onnx-mlir.
static SmallVector<int> getRegionOrder(const NodeProto &node) {
  SmallVector<int> order;
  for (int i = 0; i < node.attribute_size(); ++i) {
    bool isFirst =
        node.op_type() == "If" && node.attribute(i).name() == "then_branch";
    order.insert(isFirst ? order.begin() : order.end(), i);
  }
  return order;
}

LogicalResult GraphImporter::importAttributes(const NodeProto &node,
                                              InferredNode inferred,
                                              int nodeIndex,
                                              OperationState &state) {
  SmallVector<NamedAttribute> infos;
  SmallVector<Attribute> rest, order, graphInfos;
  SmallVector<bool> isGraph(node.attribute_size(), false);
  llvm::StringSet<> names;
  for (auto [index, attribute] : llvm::enumerate(node.attribute())) {
    subject.attribute = nullptr;
    StringRef name = attribute.name();
    if (!names.insert(name).second)
      return emitError() << "has attribute '" << name << "' twice";
    order.push_back(builder.getStringAttr(name));
    subject.attribute = &attribute;
    std::string error;
    FailureOr<ImportedAttribute> imported =
        importAttribute(attribute, isDataType(node, attribute), encoder,
                        tensors, context, error);
    if (failed(imported))
      return emitError() << error;
    if (!hasOwnName(node, name) || (!imported->value && !imported->isGraph)) {
      rest.push_back(encoder.encode(attribute));
      continue;
    }
    isGraph[index] = imported->isGraph;
    if (imported->value)
      state.addAttribute(name, imported->value);
    if (imported->info)
      infos.push_back(builder.getNamedAttr(name, imported->info));
  }
  for (int index : getRegionOrder(node)) {
    if (!isGraph[index])
      continue;
    auto graphs = getGraphs(node.attribute(index));
    const NodeProto &same = inferred(nodeIndex);
    auto types = index < same.attribute_size()
                     ? getGraphs(same.attribute(index))
                     : graphs;
    for (auto [i, graph] : llvm::enumerate(graphs))
      if (failed(importRegion(*graph, i < types.size() ? *types[i] : *graph,
                              node.attribute(index).name(), state, graphInfos)))
        return failure();
  }
  if (!infos.empty())
    state.addAttribute("onnx.attribute_info", builder.getDictionaryAttr(infos));
  if (!rest.empty())
    state.addAttribute("onnx.attributes", builder.getArrayAttr(rest));
  if (!graphInfos.empty())
    state.addAttribute("onnx.graphs", builder.getArrayAttr(graphInfos));
  auto before = [](Attribute a, Attribute b) {
    return cast<StringAttr>(a).getValue() < cast<StringAttr>(b).getValue();
  };
  if (!llvm::is_sorted(order, before))
    state.addAttribute("onnx.attribute_order", builder.getArrayAttr(order));
  return success();
}

LogicalResult GraphImporter::importRegion(const GraphProto &graph,
                                          const GraphProto &inferred,
                                          StringRef attribute,
                                          OperationState &state,
                                          SmallVectorImpl<Attribute> &infos) {
  Region *region = state.addRegion();
  Block *block = &region->emplaceBlock();
  GraphInfo info;
  SmallVector<Value> results;
  auto known = [&]() -> const GraphProto & { return inferred; };
  if (failed(importGraph(graph, known, sortNodes(graph.node()), block, info,
                         results)))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  htp::onnx::YieldOp::create(builder, state.location, results);
  info.attrs.append("attribute", builder.getStringAttr(attribute));
  // Store just the name if there is nothing else.
  auto pack = [&](ArrayRef<DictionaryAttr> values) {
    SmallVector<Attribute> entries;
    for (DictionaryAttr value : values)
      entries.push_back(value.size() == 1 ? value.get("name") : value);
    return builder.getArrayAttr(entries);
  };
  info.attrs.append("inputs", pack(info.inputs));
  info.attrs.append("outputs", pack(info.outputs));
  infos.push_back(info.attrs.getDictionary(context));
  return success();
}
