// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schema applies to an operation: its operator type, domain and opset
// version.

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/schema.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace htp::onnx;

std::optional<StringRef> htp::onnx::findDomain(StringRef opType) {
  const OperatorSchemas *schemas = findOperator(opType);
  return schemas ? std::optional<StringRef>(schemas->domain) : std::nullopt;
}

const ::onnx::OpSchema *
htp::onnx::findSchema(StringRef opType, StringRef domain, int64_t version) {
  const OperatorSchemas *schemas = findOperator(opType);
  if (domain == "ai.onnx")
    domain = "";
  if (!schemas || schemas->domain != domain)
    return nullptr;
  const OperatorSchemas::Version *found = schemas->at(version);
  return found ? &*found->schema : nullptr;
}

const ::onnx::OpSchema *htp::onnx::findSchema(Operation *op) {
  StringRef domain = getDomain(op);
  return findSchema(getOpType(op), domain, getOpsetVersion(op, domain));
}

int64_t htp::onnx::getOpsetVersion(Operation *op, StringRef domain) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    auto imports = dyn_cast_or_null<ArrayAttr>(
        parent->getDiscardableAttr("onnx.opset_import"));
    if (!imports)
      continue;
    // As in ONNX's checker, the last import of a domain counts, and the exact
    // name takes precedence over the alias ("ai.onnx").
    int64_t found = 0, byOtherName = 0;
    for (DictionaryAttr entry : imports.getAsRange<DictionaryAttr>()) {
      auto name = entry.getAs<StringAttr>("domain");
      StringRef imported = name ? name.getValue() : "";
      auto version = entry.getAs<IntegerAttr>("version");
      if (!version)
        continue;
      if (imported == domain)
        found = version.getValue().getSExtValue();
      else if (imported == "ai.onnx" && domain.empty())
        byOtherName = version.getValue().getSExtValue();
    }
    return found ? found : byOtherName;
  }
  return 0;
}

StringRef htp::onnx::getOpType(Operation *op) {
  if (auto custom = dyn_cast<CustomOp>(op))
    return custom.getFunctionName();
  return op->getName().stripDialect();
}

StringRef htp::onnx::getDomain(Operation *op) {
  if (isa<CustomOp>(op)) {
    auto domain = op->getAttrOfType<StringAttr>("domain_name");
    return domain ? domain.getValue() : "";
  }
  return findDomain(getOpType(op)).value_or("");
}

SmallVector<StringRef> htp::onnx::getRegionNames(Operation *op) {
  SmallVector<StringRef> names;
  // Set by the importer: one entry per region.
  if (auto graphs = op->getAttrOfType<ArrayAttr>("onnx.graphs"))
    for (DictionaryAttr graph : graphs.getAsRange<DictionaryAttr>())
      if (auto name = graph.getAs<StringAttr>("attribute"))
        names.push_back(name.getValue());
  if (names.size() == op->getNumRegions())
    return names;
  names.clear();
  // Otherwise in the order of onnx-mlir, whose If has the then-branch first.
  if (const ::onnx::OpSchema *schema = findSchema(op))
    for (const auto &[name, attribute] : schema->attributes())
      if (attribute.type == ::onnx::AttributeProto::GRAPH)
        names.push_back(name);
  if (getOpType(op) == "If")
    std::reverse(names.begin(), names.end());
  return names;
}

bool htp::onnx::isReservedAttrName(StringRef name) {
  // The last four are set by onnx-mlir on operations with regions.
  return name == kNodeName || name == kOutputNames || name.contains('.') ||
         name == "input_names" || name == "output_names" ||
         name == "input_dim_params" || name == "output_dim_params";
}

NamedAttrList htp::onnx::getAllAttrs(Operation *op) {
  NamedAttrList attrs;
  if (op->isRegistered())
    op->getName().populateInherentAttrs(op, attrs);
  else if (auto properties =
               dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    attrs.append(properties.getValue());
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (op->isRegistered())
      attrs.append(attr);
    else
      attrs.set(attr.getName(), attr.getValue());
  return attrs;
}
