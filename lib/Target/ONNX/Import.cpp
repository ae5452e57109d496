// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports a ModelProto as a module: the model's own fields become attributes of
// the module, its graph becomes @main_graph, its functions become private
// functions.

#include "HTP/Target/ONNX/Import.h"

#include "GraphImporter.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "NodeOrder.h"
#include "TypeInference.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace htp;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Adds the prefix `onnx.` to names of fields. Names that already have a prefix
/// were added by a sink.
static NamedAttrList withPrefix(ArrayRef<NamedAttribute> attrs) {
  NamedAttrList prefixed;
  for (NamedAttribute attr : attrs) {
    StringRef name = attr.getName();
    prefixed.append(name.contains('.') ? name.str() : ("onnx." + name).str(),
                    attr.getValue());
  }
  return prefixed;
}

/// Creates a function from `body`, with the graph's attributes.
static func::FuncOp makeFunction(Location loc, StringRef name, Region &body,
                                 const GraphInfo &info,
                                 ArrayRef<Value> results) {
  MLIRContext *context = loc.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&body.front());
  htp::onnx::ReturnOp::create(builder, loc, results);
  auto type = builder.getFunctionType(body.front().getArgumentTypes(),
                                      ValueRange(results).getTypes());
  auto function = func::FuncOp::create(loc, name, type);
  for (NamedAttribute attr : withPrefix(info.attrs.getAttrs()))
    function->setAttr(attr.getName(), attr.getValue());
  // Set all at once: each call of setArgAttr would rebuild the array of all
  // arguments.
  auto prefixed = [&](DictionaryAttr attrs) {
    return withPrefix(attrs.getValue()).getDictionary(context);
  };
  function.setAllArgAttrs(llvm::map_to_vector(info.inputs, prefixed));
  function.setAllResultAttrs(llvm::map_to_vector(info.outputs, prefixed));
  function.getBody().takeBody(body);
  return function;
}

namespace {
class ModelImporter {
public:
  ModelImporter(std::shared_ptr<ModelFile> file, MLIRContext *context,
                const ImportOptions &options)
      : file(file), context(context), options(options),
        loc(FileLineColLoc::get(context, file->path(), 0, 0)),
        graphs(context, file, options.metadata) {}

  OwningOpRef<ModuleOp> import();

private:
  LogicalResult importMainGraph();
  LogicalResult importFunction(const FunctionProto &proto,
                               SymbolTable &symbols);
  LogicalResult verifyModule();

  std::shared_ptr<ModelFile> file;
  MLIRContext *context;
  ImportOptions options;
  Location loc;
  GraphImporter graphs;
  OwningOpRef<ModuleOp> module;
};
} // namespace

LogicalResult ModelImporter::importMainGraph() {
  const ModelProto &model = file->model();
  const std::vector<int> order = sortNodes(model.graph().node());
  std::optional<TypeInference> inference;
  if (options.inferShapes)
    inference.emplace(model, order);
  auto inferred = [&]() -> const GraphProto & {
    return inference ? inference->get(loc) : model.graph();
  };
  Region body;
  GraphInfo info;
  SmallVector<Value> results;
  if (failed(graphs.importGraph(model.graph(), inferred, order,
                                &body.emplaceBlock(), info, results)))
    return failure();
  auto function =
      makeFunction(UnknownLoc::get(context), "main_graph", body, info, results);
  module->push_back(function);
  return success();
}

LogicalResult ModelImporter::importFunction(const FunctionProto &proto,
                                            SymbolTable &symbols) {
  Region body;
  GraphInfo info;
  SmallVector<Value> results;
  if (failed(graphs.importFunction(proto, &body.emplaceBlock(), info, results)))
    return failure();
  Builder builder(context);
  if (proto.has_name())
    info.attrs.append("function_name", builder.getStringAttr(proto.name()));
  if (proto.has_domain())
    info.attrs.append("function_domain", builder.getStringAttr(proto.domain()));
  if (proto.has_overload())
    info.attrs.append("function_overload",
                      builder.getStringAttr(proto.overload()));
  StringRef name = proto.name().empty() ? "function" : StringRef(proto.name());
  auto function =
      makeFunction(UnknownLoc::get(context), name, body, info, results);
  function.setPrivate();
  symbols.insert(function);
  return success();
}

/// Verifies the module. Turns errors of the verifier, which name the operation,
/// into one-line errors that also name the file and node.
LogicalResult ModelImporter::verifyModule() {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    auto name = dyn_cast<NameLoc>(diagnostic.getLocation());
    if (!name)
      return failure();
    emitError(loc) << "node '" << name.getName().getValue()
                   << "': " << diagnostic.str();
    return success();
  });
  return verify(*module);
}

OwningOpRef<ModuleOp> ModelImporter::import() {
  const ModelProto &model = file->model();
  if (!model.has_graph()) {
    emitError(loc) << "is not an ONNX model: it has no graph";
    return {};
  }
  module = ModuleOp::create(UnknownLoc::get(context));
  NamedAttrList attrs;
  graphs.getEncoder().encodeFields(model, attrs,
                                   {ModelProto::kGraphFieldNumber,
                                    ModelProto::kFunctionsFieldNumber,
                                    ModelProto::kMetadataPropsFieldNumber});
  auto take = [&](MetadataSink &sink, MetadataSink::Entries &entries) {
    sink.takeFromModel(entries, attrs);
  };
  if (!graphs.showMetadata(model.metadata_props(), take, attrs))
    graphs.getEncoder().encodeField(model, attrs,
                                    ModelProto::kMetadataPropsFieldNumber);
  // Note that these are missing, or the exporter would add defaults, as it does
  // for IR that was not imported from a model.
  if (!model.has_ir_version() || model.opset_import().empty())
    attrs.append("incomplete", UnitAttr::get(context));
  (*module)->setAttrs(withPrefix(attrs.getAttrs()).getDictionary(context));
  if (failed(importMainGraph()))
    return {};
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  htp::onnx::EntryPointOp::create(
      builder, builder.getUnknownLoc(),
      FlatSymbolRefAttr::get(context, "main_graph"));
  SymbolTable symbols(*module);
  for (const FunctionProto &function : model.functions())
    if (failed(importFunction(function, symbols)))
      return {};
  if (options.metadata)
    options.metadata->finish(*module, loc);
  if (failed(verifyModule()))
    return {};
  return std::move(module);
}

OwningOpRef<ModuleOp> htp::importModel(std::shared_ptr<ModelFile> file,
                                       MLIRContext *context,
                                       const ImportOptions &options) {
  context->loadDialect<htp::onnx::ONNXDialect, func::FuncDialect>();
  return ModelImporter(std::move(file), context, options).import();
}
