// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of GraphExporter that exports operations as nodes.

#include "Attributes.h"
#include "GraphExporter.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

using namespace mlir;
using namespace htp;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

std::pair<StringRef, std::optional<int64_t>>
htp::splitVersion(StringRef opType) {
  StringRef digits = opType.substr(opType.find_last_not_of("0123456789") + 1);
  StringRef base = opType.drop_back(digits.size());
  int64_t version;
  if (digits.getAsInteger(10, version) || !base.consume_back("V") ||
      htp::onnx::findDomain(opType) || !htp::onnx::findDomain(base))
    return {opType, std::nullopt};
  return {base, version};
}

/// The ONNX operator of an operation to which onnx-mlir gives a name of its
/// own.
static StringRef getStandardName(StringRef opType) {
  if (opType == "MaxPoolSingleOut")
    return "MaxPool";
  if (opType == "BatchNormalizationInferenceMode")
    return "BatchNormalization";
  return splitVersion(opType).first;
}

LogicalResult GraphExporter::exportOperator(Operation *op, NodeProto &node) {
  auto text = [&](StringRef name, Operation *from) {
    return from->getAttrOfType<StringAttr>(name);
  };
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee)
      return emitError() << "calls @" << call.getCallee()
                         << ", which is not in the module";
    StringAttr name = text("onnx.function_name", callee);
    node.set_op_type(name ? name.str() : callee.getSymName().str());
    if (StringAttr domain = text("onnx.function_domain", callee))
      node.set_domain(domain.str());
    if (StringAttr overload = text("onnx.function_overload", callee))
      node.set_overload(overload.str());
    return success();
  }
  if (op->getName().getDialectNamespace() != "onnx")
    return emitError() << "has no form in ONNX";
  if (auto custom = dyn_cast<htp::onnx::CustomOp>(op)) {
    node.set_op_type(custom.getFunctionName().str());
    if (StringAttr domain = text("domain_name", op))
      node.set_domain(domain.str());
    return success();
  }
  StringRef opType = getStandardName(op->getName().stripDialect());
  node.set_op_type(opType.str());
  StringRef domain = htp::onnx::findDomain(opType).value_or("");
  if (StringAttr recorded = text("onnx.domain", op))
    node.set_domain(recorded.str());
  else if (!domain.empty())
    node.set_domain(domain.str());
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void GraphExporter::nameResults(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto output = outputNames.find(result);
    StringRef wanted = output != outputNames.end() ? StringRef(output->second)
                                                   : getRecordedName(result);
    // An output without a name is omitted, unless something uses it.
    if (wanted.empty() && result.use_empty() &&
        (op->hasAttr(htp::onnx::kOutputNames) ||
         isa<NoneType>(result.getType())))
      continue;
    names.assign(result, wanted, htp::onnx::getOpType(op));
  }
}

LogicalResult GraphExporter::exportNode(Operation *op, NodeProto &node) {
  if (failed(exportOperator(op, node)))
    return failure();
  for (Value operand : op->getOperands())
    node.add_input(operand.getDefiningOp<htp::onnx::NoValueOp>()
                       ? ""
                       : names.get(operand).str());
  for (Value result : op->getResults())
    node.add_output(names.get(result).str());
  if (auto name = op->getAttrOfType<StringAttr>(htp::onnx::kNodeName))
    node.set_name(name.str());
  // All other fields are attributes named like the fields.
  static constexpr StringRef kTaken[] = {"attribute", "domain",  "input",
                                         "name",      "op_type", "output"};
  SmallVector<NamedAttribute> fields;
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    StringRef name = attr.getName();
    if (!name.consume_front("onnx.") || llvm::is_contained(kTaken, name))
      continue;
    if (name == "unknown_fields" ||
        NodeProto::descriptor()->FindFieldByName(name.str()))
      fields.emplace_back(StringAttr::get(op->getContext(), name),
                          attr.getValue());
  }
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  if (failed(decoder.decode(fields, node)))
    return failure();
  addMetadata(options, op, node);
  return exportAttributes(op, node);
}

//===----------------------------------------------------------------------===//
// Attributes and subgraphs
//===----------------------------------------------------------------------===//

/// Sorts attributes in the order of the file or, without one, by name.
static void orderAttributes(Operation *op, NodeProto &node) {
  llvm::StringMap<size_t> positions;
  if (auto order = op->getAttrOfType<ArrayAttr>("onnx.attribute_order"))
    for (StringAttr name : order.getAsRange<StringAttr>())
      positions.try_emplace(name.getValue(), positions.size());
  auto key = [&](const AttributeProto &attribute) {
    auto it = positions.find(attribute.name());
    return std::make_pair(it == positions.end() ? positions.size() : it->second,
                          attribute.name());
  };
  auto &attributes = *node.mutable_attribute();
  std::sort(attributes.pointer_begin(), attributes.pointer_end(),
            [&](const AttributeProto *a, const AttributeProto *b) {
              return key(*a) < key(*b);
            });
}

LogicalResult GraphExporter::exportAttributes(Operation *op, NodeProto &node) {
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  auto infos = op->getAttrOfType<DictionaryAttr>("onnx.attribute_info");
  auto getInfo = [&](StringRef name) {
    return infos ? infos.getAs<DictionaryAttr>(name) : DictionaryAttr();
  };
  bool isCustom = isa<htp::onnx::CustomOp>(op), isCall = isa<func::CallOp>(op);
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    StringRef name = attr.getName();
    if (htp::onnx::isReservedAttrName(name) ||
        (isCustom && (name == "function_name" || name == "domain_name")) ||
        (isCall && (name == "callee" || name == "no_inline" ||
                    name == "arg_attrs" || name == "res_attrs")))
      continue;
    std::string error;
    if (failed(exportAttribute(name, attr.getValue(), getInfo(name), decoder,
                               writer, *node.add_attribute(), error)))
      return error.empty()
                 ? failure()
                 : emitError() << "attribute '" << name << "' " << error;
  }
  if (auto rest = op->getAttrOfType<ArrayAttr>("onnx.attributes"))
    for (DictionaryAttr entry : rest.getAsRange<DictionaryAttr>())
      if (failed(decoder.decode(entry.getValue(), *node.add_attribute())))
        return failure();
  if (failed(exportRegions(op, infos, node)))
    return failure();
  orderAttributes(op, node);
  return success();
}

LogicalResult GraphExporter::exportRegions(Operation *op, DictionaryAttr infos,
                                           NodeProto &node) {
  if (!op->getNumRegions())
    return success();
  SmallVector<StringRef> regions = htp::onnx::getRegionNames(op);
  if (regions.size() != op->getNumRegions())
    return emitError() << "has " << op->getNumRegions()
                       << " regions, but names of " << regions.size();
  auto graphs = op->getAttrOfType<ArrayAttr>("onnx.graphs");
  ProtoDecoder decoder(writer, [&] { return emitError(); });
  llvm::StringMap<AttributeProto *> attributes;
  for (auto [index, name] : llvm::enumerate(regions)) {
    AttributeProto *&attribute = attributes[name];
    if (!attribute) {
      attribute = node.add_attribute();
      auto info = infos ? infos.getAs<DictionaryAttr>(name) : DictionaryAttr();
      if (failed(exportAttributeShell(name, AttributeProto::GRAPH, info,
                                      decoder, *attribute)))
        return failure();
    }
    Region &region = op->getRegion(index);
    if (!region.hasOneBlock() || !region.front().mightHaveTerminator())
      return emitError() << "expects one block in '" << name << "'";
    auto graphInfo = graphs && index < graphs.size()
                         ? dyn_cast<DictionaryAttr>(graphs[index])
                         : DictionaryAttr();
    Source source = getSource(region, graphInfo);
    ::onnx::GraphProto &graph = attribute->type() == AttributeProto::GRAPHS
                                    ? *attribute->add_graphs()
                                    : *attribute->mutable_g();
    if (failed(exportBlock(source, graph)))
      return failure();
    if (!graphInfo) // not from a model, but graphs in a model need names
      graph.set_name(name.str());
    current = op;
  }
  return success();
}
