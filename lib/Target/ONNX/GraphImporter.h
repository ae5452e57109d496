// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes, initializers and values of one graph or function → a block.

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

/// What a graph has beside its block: attributes of the function, or of the
/// entry in `onnx.graphs` for a subgraph.
struct GraphInfo {
  mlir::NamedAttrList attrs;
  llvm::SmallVector<mlir::DictionaryAttr> inputs, outputs; // each has `name`
};

class GraphImporter {
public:
  /// `sink` may be null.
  GraphImporter(mlir::MLIRContext *context, std::shared_ptr<ModelFile> file,
                MetadataSink *sink);

  /// The same graph after shape inference. It is asked for as late as possible:
  /// inference may still run.
  using InferredGraph = llvm::function_ref<const ::onnx::GraphProto &()>;

  /// Fills `block` with the graph; its arguments are the graph's inputs.
  /// `order` is that of its nodes (sortNodes). The block has no terminator yet:
  /// `results` are the outputs.
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

  /// Shows metadata to the sink, where there is one. True where it took some;
  /// `attrs` then has what is left.
  bool showMetadata(const MetadataEntries &metadata, TakeFn take,
                    mlir::NamedAttrList &attrs) const;
  /// The same of a node, whose metadata may be a span of the file.
  bool showMetadata(const ::onnx::NodeProto &node, TakeFn take,
                    mlir::NamedAttrList &attrs) const;

  mlir::InFlightDiagnostic emitError() const;
  const ProtoEncoder &getEncoder() const { return encoder; }

private:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
  using ValueInfos = google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>;

  /// The values that one graph defines.
  struct Scope {
    /// For about so many values: to grow a large table again and again is slow.
    explicit Scope(unsigned count) : values(count) {}

    llvm::StringMap<mlir::Value> values;
    /// What the model says of them.
    llvm::StringMap<const ::onnx::TypeProto *> types;
    mlir::Value noValue;
  };

  /// What is being imported, for messages: a text, or "node 'x' (MatMul)", and
  /// perhaps an attribute of it. Put into words when there is something to say.
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

  /// A node after shape inference, by its place in the file.
  using InferredNode = llvm::function_ref<const ::onnx::NodeProto &(int)>;

  mlir::LogicalResult importNodes(const Nodes &nodes, InferredNode inferred,
                                  llvm::ArrayRef<int> order);
  mlir::LogicalResult importNode(const ::onnx::NodeProto &node,
                                 InferredNode inferred, int index);
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
  std::vector<Scope> scopes;
  std::vector<const Nodes *> enclosingNodes;
  Subject subject;
};

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_GRAPHIMPORTER_H
