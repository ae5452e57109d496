// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OutlinedTags.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Support/JSONDocument.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace htp {

static constexpr StringLiteral kValueInfoAttr = "onnx.value_info";
static constexpr StringLiteral kAllValueInfoAttr = "htp.value_info";
/// Of a record: two levels for each module that lies in another.
static constexpr unsigned kMaxNesting = 1024;

//===----------------------------------------------------------------------===//
// Attributes as JSON
//===----------------------------------------------------------------------===//

/// LLVM's writer goes over a string once to check it, once to write it letter
/// by letter. Names hardly ever need that.
static void appendString(StringRef value, std::string &text) {
  bool plain = llvm::all_of(
      value, [](char c) { return llvm::isPrint(c) && c != '"' && c != '\\'; });
  if (plain)
    text.append("\"").append(value).append("\"");
  else
    text += llvm::formatv("{0}", json::Value(json::fixUTF8(value))).str();
}

static void appendJSON(Attribute attribute, std::string &text);

/// ONNX has no locations: they are left out.
static void appendJSON(ArrayRef<NamedAttribute> entries, std::string &text) {
  StringRef comma;
  text += '{';
  for (NamedAttribute entry : entries) {
    StringRef key = entry.getName();
    if (key == kRecordedLocation || key == kRecordedInScope ||
        key == kRecordedArguments)
      continue;
    text += std::exchange(comma, ",");
    appendString(key, text);
    text += ':';
    appendJSON(entry.getValue(), text);
  }
  text += '}';
}

/// Strings, arrays and dictionaries as such, anything else as
/// {"mlir": "<text>"}. A model has as many records as ops, so no json::Value is
/// made on the way.
static void appendJSON(Attribute attribute, std::string &text) {
  StringRef comma;
  if (auto value = dyn_cast<StringAttr>(attribute)) {
    appendString(value, text);
  } else if (auto originals = dyn_cast<OriginalsAttr>(attribute)) {
    text += '[';
    for (size_t op : llvm::seq(originals.size())) {
      text += std::exchange(comma, ",");
      appendJSON(originals[op], text);
    }
    text += ']';
  } else if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    text += '[';
    for (Attribute element : array) {
      text += std::exchange(comma, ",");
      appendJSON(element, text);
    }
    text += ']';
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    appendJSON(dictionary.getValue(), text);
  } else {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    attribute.print(stream);
    text += "{\"mlir\":";
    appendString(printed, text);
    text += '}';
  }
}

/// An attribute as the value of an entry in the metadata.
static std::string toText(Attribute attribute) {
  std::string text;
  if (auto value = dyn_cast<StringAttr>(attribute))
    text = value.str();
  else
    appendJSON(attribute, text);
  return text;
}

static Attribute fromJSON(const JSONValue &value, MLIRContext *context);

/// What `key` stands for: its value says not all of it.
static Attribute fromJSON(StringRef key, const JSONValue &value,
                          MLIRContext *context) {
  Attribute attribute = fromJSON(value, context);
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  return array && key == kOriginalsAttr ? OriginalsAttr::get(array) : attribute;
}

/// Null where the text is not what appendJSON wrote.
static Attribute fromJSON(const JSONValue &value, MLIRContext *context) {
  if (auto text = value.getAsString())
    return StringAttr::get(context, *text);
  if (const JSONArray *array = value.getAsArray()) {
    SmallVector<Attribute> elements;
    for (const JSONValue &element : *array) {
      elements.push_back(fromJSON(element, context));
      if (!elements.back())
        return {};
    }
    return ArrayAttr::get(context, elements);
  }
  const JSONObject *object = value.getAsObject();
  if (!object)
    return {};
  if (object->size() == 1)
    if (auto text = object->getString("mlir"))
      return parseAttribute(*text, context);
  NamedAttrList entries;
  for (const auto &[key, entry] : *object) {
    Attribute attribute = fromJSON(key, entry, context);
    if (!attribute)
      return {};
    entries.set(StringAttr::get(context, key), attribute);
  }
  return entries.getDictionary(context);
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static void addMetadata(Operation *op, StringRef key, StringRef value) {
  Builder builder(op->getContext());
  SmallVector<Attribute> entries;
  if (auto present = op->getAttrOfType<ArrayAttr>(kMetadataAttr))
    llvm::append_range(entries, present);
  entries.push_back(builder.getStrArrayAttr({key, value}));
  op->setAttr(kMetadataAttr, builder.getArrayAttr(entries));
}

/// Notes an attribute in the metadata of the same op.
static void embed(Operation *op, StringRef name) {
  if (Attribute attribute = op->getAttr(name))
    addMetadata(op, name, toText(attribute));
}

static void lift(Operation *op, StringRef name) {
  StringAttr text = getMetadata(op, name);
  if (!text)
    return;
  llvm::Expected<JSONDocument> document =
      JSONDocument::parse(text.getValue(), kMaxNesting);
  if (!document) {
    llvm::consumeError(document.takeError());
    return;
  }
  if (Attribute attribute = fromJSON(name, document->root(), op->getContext()))
    op->setAttr(name, attribute);
}

/// A graph lists the types of its own values only. Those of values that went
/// into functions are a note until they come back.
static void embedValueInfo(func::FuncOp graph) {
  Attribute infos = graph->getAttr(kValueInfoAttr);
  if (!infos)
    return;
  graph->setAttr(kAllValueInfoAttr, infos);
  embed(graph, kAllValueInfoAttr);
}

static void liftValueInfo(func::FuncOp graph) {
  lift(graph, kAllValueInfoAttr);
  if (Attribute infos = graph->removeAttr(kAllValueInfoAttr))
    graph->setAttr(kValueInfoAttr, infos);
}

/// What the record of an op is made of.
static ArrayRef<StringLiteral> recordOf(Operation *op) {
  static constexpr StringLiteral kOfCalls[] = {kOrderAttr, kOriginalsAttr,
                                               kConstantsAttr};
  static constexpr StringLiteral kOfConstants[] = {kConstantAttr, kSunkAttr};
  if (isa<func::CallOp>(op))
    return kOfCalls;
  return isConstant(op) ? ArrayRef(kOfConstants) : ArrayRef<StringLiteral>();
}

bool hasCallRecord(Operation *op) {
  return llvm::any_of(recordOf(op),
                      [&](StringRef name) { return op->hasAttr(name); });
}

void describeCallRecord(Operation *op, MetadataSource::AddFn add) {
  for (StringRef name : recordOf(op))
    if (Attribute attribute = op->getAttr(name))
      add(name, toText(attribute));
}

void embedFunctionRecords(mlir::ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  auto isOutlined = [](func::FuncOp function) {
    return function->hasAttr(kModuleAttr);
  };
  bool anyOutlined = llvm::any_of(functions, isOutlined);
  for (func::FuncOp function : functions) {
    if (anyOutlined && !isOutlined(function))
      embedValueInfo(function);
    embed(function, kModuleAttr);
    embed(function, kOrderAttr);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A node that calls an outlined function, as the importer spells it.
static func::CallOp makeCall(Operation *node, func::FuncOp callee) {
  OpBuilder builder(node);
  auto call = func::CallOp::create(builder, node->getLoc(), callee.getSymName(),
                                   node->getResultTypes(), node->getOperands());
  for (NamedAttribute attribute : node->getAttrDictionary())
    if (isAnnotation(attribute.getName()))
      call->setAttr(attribute.getName(), attribute.getValue());
  node->replaceAllUsesWith(call);
  node->erase();
  return call;
}

void liftCallRecords(mlir::ModuleOp module) {
  llvm::StringMap<func::FuncOp> outlined;
  auto key = [](StringAttr domain, StringAttr name) {
    return ((domain ? domain.getValue() : "") + "\n" +
            (name ? name.getValue() : ""))
        .str();
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    lift(function, kOrderAttr);
    liftValueInfo(function);
    StringAttr path = getMetadata(function, kModuleAttr);
    if (!path)
      continue;
    function->setAttr(kModuleAttr, path);
    outlined[key(function->getAttrOfType<StringAttr>("onnx.function_domain"),
                 function->getAttrOfType<StringAttr>("onnx.function_name"))] =
        function;
  }
  if (outlined.empty())
    return;
  SmallVector<std::pair<Operation *, func::FuncOp>> nodes;
  module->walk([&](Operation *op) {
    for (StringRef name : recordOf(op))
      lift(op, name);
    if (op->getName().getStringRef() != "onnx.Custom")
      return;
    auto it =
        outlined.find(key(op->getAttrOfType<StringAttr>("domain_name"),
                          op->getAttrOfType<StringAttr>("function_name")));
    if (it != outlined.end())
      nodes.push_back({op, it->second});
  });
  for (auto [node, callee] : nodes) {
    func::CallOp call = makeCall(node, callee);
    for (StringRef name : recordOf(call))
      lift(call, name);
  }
}

} // namespace htp
