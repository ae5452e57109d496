// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports a module as a ModelProto: fields of the model, opset imports and
// functions.

#include "HTP/Target/ONNX/Export.h"

#include "GraphExporter.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/schema.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace htp;
using ::onnx::FunctionProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

/// The function that is the model's graph: the one that onnx.EntryPoint names,
/// or the one called main_graph, or the only public one.
static func::FuncOp findMainGraph(ModuleOp module) {
  for (auto entry : module.getOps<htp::onnx::EntryPointOp>())
    if (auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            entry, entry.getFuncAttr()))
      return function;
  if (auto function = module.lookupSymbol<func::FuncOp>("main_graph"))
    return function;
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      candidates.push_back(function);
  return candidates.size() == 1 ? candidates[0] : func::FuncOp();
}

/// The oldest opset (which most tools can read) that has the required version
/// of every operator: the newest one, unless the name of the operation has a
/// version (onnx.SoftmaxV11).
static int64_t chooseOpset(ModuleOp module) {
  int64_t newest = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance()
                       .Map()
                       .at("")
                       .second;
  module.walk([&](Operation *op) {
    auto [opType, version] = splitVersion(op->getName().stripDialect());
    if (!version)
      return;
    // The first opset in which a newer version replaces this one is too new.
    for (int64_t opset = *version + 1; opset <= newest; ++opset)
      if (const auto *schema = htp::onnx::findSchema(opType, "", opset);
          schema && schema->SinceVersion() > *version)
        newest = opset - 1;
  });
  int64_t oldest = 1;
  module.walk([&](Operation *op) {
    StringRef opType = splitVersion(op->getName().stripDialect()).first;
    if (const auto *schema = htp::onnx::findSchema(opType, "", newest))
      oldest = std::max<int64_t>(oldest, schema->SinceVersion());
  });
  return oldest;
}

/// The opset version of the default domain that the model imports.
static int64_t defaultOpset(const ModelProto &model) {
  int64_t version = 1;
  for (const auto &entry : model.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      version = entry.version();
  return version;
}

/// The IR version of the ONNX release that introduced an opset; at least 8,
/// which functions need.
static int64_t irVersionOf(int64_t opset) {
  static constexpr std::pair<int64_t, int64_t> kReleases[] = {
      {28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}};
  for (auto [first, version] : kReleases)
    if (opset >= first)
      return version;
  return 8;
}

static LogicalResult exportModelFields(ModuleOp module, ModelProto &model,
                                       ModelWriter &writer,
                                       const ExportOptions &options) {
  SmallVector<NamedAttribute> fields;
  for (NamedAttribute attr : module->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    // Skip attributes that are not fields of the model.
    if (name.consume_front("onnx.") &&
        (name == "unknown_fields" ||
         ModelProto::descriptor()->FindFieldByName(name.str())))
      fields.emplace_back(StringAttr::get(module.getContext(), name),
                          attr.getValue());
  }
  auto emitError = [&] { return module.emitError() << "the module "; };
  if (failed(ProtoDecoder(writer, emitError).decode(fields, model)))
    return failure();
  addMetadata(options, module.getOperation(), model);
  // IR that was not imported from a model has neither.
  if (!module->hasAttr("onnx.incomplete")) {
    if (model.opset_import().empty())
      model.add_opset_import()->set_version(chooseOpset(module));
    if (!model.has_ir_version())
      model.set_ir_version(irVersionOf(defaultOpset(model)));
  }
  if (options.metadata && model.has_ir_version())
    model.set_ir_version(
        std::max(model.ir_version(), options.metadata->minIRVersion()));
  return success();
}

//===----------------------------------------------------------------------===//
// Opset imports
//===----------------------------------------------------------------------===//

template <typename FnT>
static void
forEachNode(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
            const FnT &callback) {
  for (const NodeProto &node : nodes) {
    callback(node);
    for (const auto &attribute : node.attribute()) {
      forEachNode(attribute.g().node(), callback);
      for (const auto &graph : attribute.graphs())
        forEachNode(graph.node(), callback);
    }
  }
}

template <typename MessageT>
static bool imports(const MessageT &message, StringRef domain) {
  return llvm::any_of(message.opset_import(), [&](const auto &entry) {
    return entry.domain() == domain ||
           (domain.empty() && entry.domain() == "ai.onnx");
  });
}

template <typename MessageT>
static void addImport(MessageT &message, StringRef domain, int64_t version) {
  auto &added = *message.add_opset_import();
  added.set_domain(domain.str());
  added.set_version(version);
}

/// Calls `callback` with each domain that the function uses but does not
/// import. `callback` may add the import, so each domain is visited once.
static void forEachMissingDomain(FunctionProto &function,
                                 llvm::function_ref<void(StringRef)> callback) {
  forEachNode(function.node(), [&](const NodeProto &node) {
    StringRef domain = node.domain();
    if (domain == "ai.onnx")
      domain = "";
    if (!imports(function, domain))
      callback(domain);
  });
}

/// Domains of functions created by passes, in order.
using Domains = llvm::SmallSetVector<StringRef, 2>;

/// Adds opset imports to a function created by a pass: the versions that the
/// model uses.
static void importOpsets(const ModelProto &model, const Domains &made,
                         FunctionProto &function) {
  forEachMissingDomain(function, [&](StringRef domain) {
    std::optional<int64_t> version;
    // ONNX Runtime accepts its own domains in a graph without an import, but
    // not in a function.
    if (!domain.empty() || made.contains(domain))
      version = 1;
    // As in ONNX's checker, the last import counts, and the exact name takes
    // precedence over the alias.
    for (StringRef name : {StringRef("ai.onnx"), domain})
      if (name == domain || domain.empty())
        for (const auto &entry : model.opset_import())
          if (entry.domain() == name)
            version = entry.version();
    if (version)
      addImport(function, domain, *version);
  });
}

/// Nodes of the main graph may contain references to function attributes, which
/// are ignored there. In a function created from such nodes they would be
/// invalid.
static LogicalResult checkReferences(func::FuncOp function,
                                     const FunctionProto &proto) {
  LogicalResult result = success();
  forEachNode(proto.node(), [&](const NodeProto &node) {
    for (const auto &attribute : node.attribute())
      if (attribute.has_ref_attr_name() &&
          !llvm::is_contained(proto.attribute(), attribute.ref_attr_name()))
        result = function.emitError("has a node '")
                 << node.name() << "' (" << node.op_type()
                 << ") whose attribute '" << attribute.name() << "' refers to '"
                 << attribute.ref_attr_name()
                 << "', which the function does not have";
  });
  return result;
}

static LogicalResult exportFunctions(ModuleOp module, func::FuncOp mainGraph,
                                     GraphExporter &exporter,
                                     ModelProto &model) {
  SmallVector<std::pair<func::FuncOp, FunctionProto *>> functions;
  Domains made;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function == mainGraph || function.isDeclaration())
      continue;
    FunctionProto &proto = *model.add_functions();
    if (failed(exporter.exportFunction(function, proto)))
      return failure();
    functions.emplace_back(function, &proto);
    if (!function->hasAttr("onnx.opset_import"))
      made.insert(proto.domain());
  }
  // IR that was not imported from a model does not list the domains it uses.
  if (!module->hasAttr("onnx.opset_import") &&
      !module->hasAttr("onnx.incomplete")) {
    auto import = [&](const NodeProto &node) {
      if (!imports(model, node.domain()))
        addImport(model, node.domain(), 1);
    };
    forEachNode(model.graph().node(), import);
    for (auto [function, proto] : functions)
      forEachNode(proto->node(), import);
  }
  for (StringRef domain : made)
    if (!imports(model, domain))
      addImport(model, domain, 1);
  for (auto [function, proto] : functions) {
    if (!function->hasAttr("onnx.opset_import")) {
      if (failed(checkReferences(function, *proto)))
        return failure();
      importOpsets(model, made, *proto);
    } else // It may call functions created since the import.
      forEachMissingDomain(*proto, [&, proto = proto](StringRef domain) {
        if (made.contains(domain))
          addImport(*proto, domain, 1);
      });
  }
  return success();
}

LogicalResult htp::exportModel(ModuleOp module, ModelProto &model,
                               ModelWriter &writer,
                               const ExportOptions &options) {
  func::FuncOp mainGraph = findMainGraph(module);
  if (!mainGraph || mainGraph.isDeclaration())
    return module.emitError() << "has no function that is the model's graph: "
                                 "expected onnx.EntryPoint or @main_graph";
  if (!mainGraph.getBody().hasOneBlock())
    return mainGraph.emitError() << "has several blocks; a graph has one";
  GraphExporter exporter(module, writer, options);
  if (failed(exportModelFields(module, model, writer, options)) ||
      failed(exporter.exportGraph(mainGraph, *model.mutable_graph())))
    return failure();
  // IR that was not imported from a model has no name for the graph, which is
  // required.
  if (!module->hasAttr("onnx.ir_version") &&
      !module->hasAttr("onnx.incomplete") && !model.graph().has_name())
    model.mutable_graph()->set_name(mainGraph.getSymName().str());
  return exportFunctions(module, mainGraph, exporter, model);
}
