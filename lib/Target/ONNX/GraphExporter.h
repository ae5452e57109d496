// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports a block as the nodes, initializers and values of a graph or function.

#ifndef HTP_LIB_TARGET_ONNX_GRAPHEXPORTER_H
#define HTP_LIB_TARGET_ONNX_GRAPHEXPORTER_H

#include "HTP/Target/ONNX/Export.h"
#include "ProtoAttr.h"
#include "ValueNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace htp {

class GraphExporter {
public:
  GraphExporter(mlir::ModuleOp module, ModelWriter &writer,
                const ExportOptions &options)
      : symbols(module), writer(writer), options(options), names(module) {}

  mlir::LogicalResult exportGraph(mlir::func::FuncOp function,
                                  ::onnx::GraphProto &graph);
  mlir::LogicalResult exportFunction(mlir::func::FuncOp function,
                                     ::onnx::FunctionProto &proto);

private:
  using Dicts = llvm::SmallVector<mlir::DictionaryAttr>;

  /// A graph and the attributes that describe it, under plain field names.
  struct Source {
    mlir::Block *block;
    /// Null for a subgraph.
    mlir::Operation *function = nullptr;
    mlir::DictionaryAttr attrs;
    Dicts inputs, outputs;
    /// The function's result types, which may be more specific than those of
    /// the returned values; empty for a subgraph.
    llvm::SmallVector<mlir::Type> outputTypes;
  };

  static Source getSource(mlir::func::FuncOp function);
  static Source getSource(mlir::Region &region, mlir::DictionaryAttr info);

  mlir::LogicalResult exportBlock(Source &source, ::onnx::GraphProto &graph);
  mlir::LogicalResult
  exportBody(mlir::Block *block, ::onnx::GraphProto *graph,
             google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes);
  void reserveOutputs(Source &source, std::vector<std::string> &outputs);
  void
  addIdentities(Source &source, llvm::ArrayRef<std::string> outputs,
                google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes);
  void nameInput(mlir::BlockArgument argument, mlir::DictionaryAttr info);
  mlir::LogicalResult exportInputs(Source &source, ::onnx::GraphProto &graph);
  mlir::LogicalResult exportDefaults(Source &source, ::onnx::GraphProto &graph);
  mlir::LogicalResult exportInitializer(mlir::Operation *op,
                                        ::onnx::GraphProto &graph);
  void orderInitializers(Source &source, ::onnx::GraphProto &graph);
  mlir::LogicalResult exportValueInfos(
      Source &source,
      google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &infos);

  mlir::LogicalResult exportNode(mlir::Operation *op, ::onnx::NodeProto &node);
  mlir::LogicalResult exportOperator(mlir::Operation *op,
                                     ::onnx::NodeProto &node);
  mlir::LogicalResult exportAttributes(mlir::Operation *op,
                                       ::onnx::NodeProto &node);
  mlir::LogicalResult exportRegions(mlir::Operation *op,
                                    mlir::DictionaryAttr infos,
                                    ::onnx::NodeProto &node);
  void nameResults(mlir::Operation *op);

  mlir::InFlightDiagnostic emitError() const;

  mlir::SymbolTable symbols;
  ModelWriter &writer;
  const ExportOptions &options;
  ValueNames names;
  /// Names that values take over from outputs, if different from their recorded
  /// names.
  llvm::DenseMap<mlir::Value, std::string> outputNames;
  mlir::Operation *current = nullptr;
  bool inFunction = false;
};

/// Adds the metadata of `of` (an operation or an input) from the
/// MetadataSource, after that from its attribute, which `message` already has.
template <typename OfT, typename MessageT>
void addMetadata(const ExportOptions &options, OfT of, MessageT &message) {
  MetadataSource *source = options.metadata;
  if (!source)
    return;
  auto &entries = *message.mutable_metadata_props();
  auto isOutdated = [&](const ::onnx::StringStringEntryProto &entry) {
    return entry.has_value() && source->owns(entry.key());
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), isOutdated),
                entries.end());
  source->addMetadata(of, [&](llvm::StringRef key, llvm::StringRef value) {
    auto &entry = *entries.Add();
    entry.set_key(key.data(), key.size());
    entry.set_value(value.data(), value.size());
  });
}

/// Splits an onnx-mlir operation name such as "SoftmaxV11" into operator and
/// version; other names have no version.
std::pair<llvm::StringRef, std::optional<int64_t>>
splitVersion(llvm::StringRef opType);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_GRAPHEXPORTER_H
