// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports the nodes, initializers and values of one graph or function into a
// block.

#ifndef HTP_LIB_TARGET_ONNX_GRAPHIMPORTER_H
#define HTP_LIB_TARGET_ONNX_GRAPHIMPORTER_H

#include "Attributes.h"
#include "HTP/Target/ONNX/MetadataSink.h"
#include "ProtoAttr.h"
#include "Tensors.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace htp {

/// What belongs to a graph besides its block: attributes of the function or,
/// for a subgraph, of its entry in `onnx.graphs`.
struct GraphInfo {
  mlir::NamedAttrList attrs;
  llvm::SmallVector<mlir::DictionaryAttr> inputs, outputs; // each has `name`
};

class GraphImporter {
public:
  /// `sink` may be null.
  GraphImporter(mlir::MLIRContext *context, std::shared_ptr<ModelFile> file,
                MetadataSink *sink);

  /// Returns the same graph after shape inference. Called as late as possible,
  /// as inference may still be running.
  using InferredGraph = llvm::function_ref<const ::onnx::GraphProto &()>;

  /// Fills `block` with the graph; its arguments are the graph's inputs.
  /// `order` is the order of its nodes (sortNodes). The block gets no
  /// terminator; `results` receives the outputs.
  mlir::LogicalResult importGraph(const ::onnx::GraphProto &graph,
                                  InferredGraph inferred,
                                  llvm::ArrayRef<int> order, mlir::Block *block,
                                  GraphInfo &info,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  /// The same for a model-local function.
  mlir::LogicalResult
  importFunction(const ::onnx::FunctionProto &function, mlir::Block *block,
                 GraphInfo &info, llvm::SmallVectorImpl<mlir::Value> &results);

  using MetadataEntries =
      google::protobuf::RepeatedPtrField<::onnx::StringStringEntryProto>;
  using TakeFn =
      llvm::function_ref<void(MetadataSink &, MetadataSink::Entries &)>;

  /// Offers metadata to the sink, if any. Returns true if it took some; `attrs`
  /// then has the rest.
  bool showMetadata(const MetadataEntries &metadata, TakeFn take,
                    mlir::NamedAttrList &attrs) const;
  /// The same for a node, whose metadata may be a span of the file.
  bool showMetadata(const ::onnx::NodeProto &node, TakeFn take,
                    mlir::NamedAttrList &attrs) const;

  mlir::InFlightDiagnostic emitError() const;
  const ProtoEncoder &getEncoder() const { return encoder; }

private:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
  using ValueInfos = google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>;

  /// The values that one graph defines.
  struct Scope {
    /// `count` is about the number of values; growing a large table repeatedly
    /// is slow.
    explicit Scope(unsigned count) : values(count) {}

    llvm::StringMap<mlir::Value> values;
    /// The types that the model states.
    llvm::StringMap<const ::onnx::TypeProto *> types;
    mlir::Value noValue;
  };

  /// What is being imported, for messages: a text, or a node ("node 'x'
  /// (MatMul)") and perhaps one of its attributes. Formatted only if there is a
  /// message.
  struct Subject {
    std::string text;
    const ::onnx::NodeProto *node = nullptr;
    int index = 0;
    const ::onnx::AttributeProto *attribute = nullptr;
  };
  static std::string describe(const ::onnx::NodeProto &node, int index);
  static std::string explainMissing(const Nodes &nodes, int index,
                                    llvm::StringRef name);

  mlir::LogicalResult define(llvm::StringRef name, mlir::Value value);
  mlir::Value lookup(llvm::StringRef name) const;
  mlir::FailureOr<mlir::Type> getType(llvm::StringRef name);
  void setInferredTypes(const ::onnx::GraphProto &inferred);

  mlir::LogicalResult importInputs(const ::onnx::GraphProto &graph,
                                   mlir::Block *block, GraphInfo &info);
  mlir::LogicalResult importInitializers(const ::onnx::GraphProto &graph,
                                         GraphInfo &info);
  mlir::LogicalResult importInitializer(const ::onnx::TensorProto &tensor);
  mlir::LogicalResult
  importSparseInitializer(const ::onnx::SparseTensorProto &tensor);
  mlir::LogicalResult
  importOutputs(const ::onnx::GraphProto &graph, GraphInfo &info,
                llvm::SmallVectorImpl<mlir::Value> &results);
  void importValueInfos(const ValueInfos &infos, GraphInfo &info);

  /// Returns a node after shape inference, by its position in the file.
  using InferredNode = llvm::function_ref<const ::onnx::NodeProto &(int)>;

  mlir::LogicalResult importNodes(const Nodes &nodes, InferredNode inferred,
                                  llvm::ArrayRef<int> order);
  mlir::LogicalResult importNode(const ::onnx::NodeProto &node,
                                 InferredNode inferred, int index);
  void importOperator(const ::onnx::NodeProto &node,
                      mlir::OperationState &state);
  mlir::FailureOr<mlir::Value> importOperand(llvm::StringRef name);
  mlir::LogicalResult importAttributes(const ::onnx::NodeProto &node,
                                       InferredNode inferred, int index,
                                       mlir::OperationState &state);
  mlir::LogicalResult
  importRegion(const ::onnx::GraphProto &graph,
               const ::onnx::GraphProto &inferred, llvm::StringRef attribute,
               mlir::OperationState &state,
               llvm::SmallVectorImpl<mlir::Attribute> &infos);
  mlir::Operation *create(mlir::OperationState &state);

  mlir::MLIRContext *context;
  std::shared_ptr<ModelFile> file;
  ProtoEncoder encoder;
  TensorImporter tensors;
  MetadataSink *sink;
  mlir::OpBuilder builder;
  /// kNodeName and kOutputNames.
  mlir::StringAttr nodeNameKey, outputNamesKey;
  /// The operations of operators without a domain.
  llvm::StringMap<mlir::OperationName> plainOperations;
  std::vector<Scope> scopes;
  std::vector<const Nodes *> enclosingNodes;
  Subject subject;
};

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_GRAPHIMPORTER_H
