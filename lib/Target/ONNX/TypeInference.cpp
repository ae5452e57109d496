// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ONNX's shape inference on a stripped copy of the model. The cost is
// estimated first, as even a small file can demand excessive time or memory.

#include "TypeInference.h"

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/Diagnostics.h"
#include "onnx/defs/schema.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;

//===----------------------------------------------------------------------===//
// The copy
//===----------------------------------------------------------------------===//

/// Copies what inference needs of a node. Metadata, the bulk of a tagged model,
/// is not copied.
static void copyForInference(const NodeProto &from, NodeProto &to) {
  *to.mutable_input() = from.input();
  *to.mutable_output() = from.output();
  *to.mutable_attribute() = from.attribute();
  to.set_name(from.name());
  to.set_op_type(from.op_type());
  to.set_domain(from.domain());
  to.set_overload(from.overload());
}

/// The same for a graph. Weights are not copied, as their bytes are spans of
/// the file.
static void copyForInference(const GraphProto &from, ArrayRef<int> order,
                             GraphProto &to) {
  *to.mutable_input() = from.input();
  *to.mutable_output() = from.output();
  *to.mutable_value_info() = from.value_info();
  *to.mutable_initializer() = from.initializer();
  *to.mutable_sparse_initializer() = from.sparse_initializer();
  to.mutable_node()->Reserve(from.node_size());
  for (int i = 0; i < from.node_size(); ++i)
    copyForInference(from.node(order.empty() ? i : order[i]), *to.add_node());
}

/// Undoes `order`, as callers look up nodes by their position in the file.
static void restoreOrder(GraphProto &graph, ArrayRef<int> order) {
  if (order.empty())
    return;
  std::vector<NodeProto *> nodes(order.size());
  for (int place : llvm::reverse(order))
    nodes[place] = graph.mutable_node()->UnsafeArenaReleaseLast();
  for (NodeProto *node : nodes)
    graph.mutable_node()->UnsafeArenaAddAllocated(node);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

namespace {
/// Counts the nodes that inference would visit. ONNX infers a function's body
/// again for each call: 24 functions that each call the next one twice mean 16
/// million visits.
class InferenceCost {
public:
  /// More than any real model needs; takes about ten seconds.
  static constexpr uint64_t kMost = 10'000'000;

  explicit InferenceCost(const ModelProto &model) {
    for (const FunctionProto &function : model.functions())
      functions[key(function.domain(), function.name(), function.overload())] =
          {&function};
    for (const NodeProto &node : model.graph().node())
      total = add(total, ofNode(node));
  }

  bool isTooHigh() const { return total > kMost; }

private:
  struct Function {
    const FunctionProto *proto = nullptr;
    uint64_t cost = 0;
    bool open = false;
  };

  static std::string key(StringRef domain, StringRef name, StringRef overload) {
    return (domain + "\n" + name + "\n" + overload).str();
  }
  /// A saturating sum.
  static uint64_t add(uint64_t a, uint64_t b) {
    return std::min(a + b, kMost + 1);
  }
  uint64_t ofNode(const NodeProto &node) {
    uint64_t cost = 1;
    for (const auto &attribute : node.attribute()) {
      for (const NodeProto &inner : attribute.g().node())
        cost = add(cost, ofNode(inner));
      for (const GraphProto &graph : attribute.graphs())
        for (const NodeProto &inner : graph.node())
          cost = add(cost, ofNode(inner));
    }
    auto called =
        functions.find(key(node.domain(), node.op_type(), node.overload()));
    return called == functions.end() ? cost
                                     : add(cost, ofFunction(called->second));
  }
  uint64_t ofFunction(Function &function) {
    if (function.cost)
      return function.cost;
    if (function.open) // recursive: infinite cost
      return kMost + 1;
    function.open = true;
    uint64_t cost = 1;
    for (const NodeProto &node : function.proto->node())
      cost = add(cost, ofNode(node));
    function.open = false;
    return function.cost = cost;
  }

  llvm::StringMap<Function> functions;
  uint64_t total = 0;
};
} // namespace

/// Data propagation tracks every element of a vector, as most vectors that
/// reach it are shapes. Longer vectors are not shapes, and tracking them would
/// take as much memory as their declared length asks for.
static constexpr int64_t kLongVector = 1 << 16;

/// The elements that are tracked in all, about 300 MB; after that, only those
/// of vectors that are as short as shapes are.
static constexpr int64_t kMostTracked = 1 << 22;
static constexpr int64_t kShortVector = 64;

/// The result of an operator that takes a shape has as many dimensions as the
/// shape has elements. A model that claims more than this is not inferred at
/// all.
static constexpr int64_t kLongestShape = 1 << 20;

static bool isInteger(int32_t elementType) {
  return elementType == TensorProto::INT64 || elementType == TensorProto::INT32;
}

/// The length of a vector, 0 if the value is none or has no known length.
static int64_t getLength(const TypeProto &type) {
  const TensorShapeProto &shape = type.tensor_type().shape();
  return shape.dim_size() == 1 ? shape.dim(0).dim_value() : 0;
}

/// Whether it may be a shape that is too long.
static bool isLongShape(const TypeProto &type) {
  return isInteger(type.tensor_type().elem_type()) &&
         getLength(type) > kLongestShape;
}

static bool isLongShape(const TensorProto &tensor) {
  return isInteger(tensor.data_type()) && tensor.dims_size() == 1 &&
         tensor.dims(0) > kLongestShape;
}

template <typename ValuesT> static bool anyLongShape(const ValuesT &values) {
  return llvm::any_of(
      values, [](const auto &value) { return isLongShape(value.type()); });
}

static bool anyLongConstant(const GraphProto &graph);

/// Whether any tensor that the nodes hold claims too much.
template <typename NodesT> static bool anyLongConstantOf(const NodesT &nodes) {
  auto isLong = [](const TensorProto &tensor) { return isLongShape(tensor); };
  for (const NodeProto &node : nodes)
    for (const auto &attribute : node.attribute())
      if (isLong(attribute.t()) || llvm::any_of(attribute.tensors(), isLong) ||
          anyLongConstant(attribute.g()) ||
          llvm::any_of(attribute.graphs(), anyLongConstant))
        return true;
  return false;
}

static bool anyLongConstant(const GraphProto &graph) {
  auto isLong = [](const TensorProto &tensor) { return isLongShape(tensor); };
  return llvm::any_of(graph.initializer(), isLong) ||
         anyLongConstantOf(graph.node());
}

/// Whether the model claims a vector of integers that is longer than any shape:
/// a tensor's own word, which need not fit what it holds.
static bool claimsTooMuch(const ModelProto &model) {
  const GraphProto &graph = model.graph();
  return anyLongShape(graph.input()) || anyLongShape(graph.value_info()) ||
         anyLongShape(graph.output()) || anyLongConstant(graph) ||
         llvm::any_of(model.functions(), [](const FunctionProto &function) {
           return anyLongConstantOf(function.node());
         });
}

namespace {
/// How many elements data propagation has tracked, and what it left out.
class TrackedElements {
public:
  /// Whether the elements of a value of this type may be tracked, too.
  bool add(const TypeProto &type);
  /// Why integers, which a shape may depend on, were left out; empty if none
  /// were.
  StringRef whyLeftOut() const { return reason; }

private:
  int64_t count = 0;
  std::string reason;
};

/// What data propagation sees of a node: the elements of those inputs only that
/// are to be tracked.
class BoundedContext : public ::onnx::DataPropagationContext {
public:
  BoundedContext(::onnx::DataPropagationContext &node, TrackedElements &tracked)
      : node(node), tracked(tracked) {}

  const TensorShapeProto *getInputData(size_t index) override {
    const TypeProto *type = node.getInputType(index);
    return type && !tracked.add(*type) ? nullptr : node.getInputData(index);
  }
  const ::onnx::AttributeProto *
  getAttribute(const std::string &name) const override {
    return node.getAttribute(name);
  }
  size_t getNumInputs() const override { return node.getNumInputs(); }
  const TypeProto *getInputType(size_t index) const override {
    return node.getInputType(index);
  }
  size_t getNumOutputs() const override { return node.getNumOutputs(); }
  const TypeProto *getOutputType(size_t index) const override {
    return node.getOutputType(index);
  }
  void addOutputData(size_t index, TensorShapeProto &&data) override {
    node.addOutputData(index, std::move(data));
  }

private:
  ::onnx::DataPropagationContext &node;
  TrackedElements &tracked;
};

/// The schemas with such data propagation. It is bounded as inference goes,
/// since only then the lengths of all vectors are known.
class BoundedSchemas : public ::onnx::ISchemaRegistry {
public:
  const ::onnx::OpSchema *GetSchema(const std::string &opType, int version,
                                    const std::string &domain) const override;
  StringRef whyLeftOut() const { return tracked.whyLeftOut(); }

private:
  mutable llvm::DenseMap<const ::onnx::OpSchema *,
                         std::unique_ptr<::onnx::OpSchema>>
      bounded;
  mutable TrackedElements tracked;
};
} // namespace

bool TrackedElements::add(const TypeProto &type) {
  const int64_t length = getLength(type);
  if (length <= kShortVector)
    return true;
  const bool isLong = length > kLongVector;
  if (!isLong && count + length <= kMostTracked) {
    count += length;
    return true;
  }
  if (reason.empty() && isInteger(type.tensor_type().elem_type()))
    reason = isLong ? "a vector of integers has more than " +
                          std::to_string(kLongVector) + " elements"
                    : "vectors have more than " + std::to_string(kMostTracked) +
                          " elements together";
  return false;
}

const ::onnx::OpSchema *
BoundedSchemas::GetSchema(const std::string &opType, int version,
                          const std::string &domain) const {
  const ::onnx::OpSchema *schema =
      htp::onnx::schemaRegistry().GetSchema(opType, version, domain);
  if (!schema || !schema->has_data_propagation_function())
    return schema;
  std::unique_ptr<::onnx::OpSchema> &own = bounded[schema];
  if (!own) {
    own = std::make_unique<::onnx::OpSchema>(*schema);
    own->PartialDataPropagationFunction(
        [this, propagate = schema->GetDataPropagationFunction()](
            ::onnx::DataPropagationContext &node) {
          BoundedContext context(node, tracked);
          propagate(context);
        });
  }
  return own.get();
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// Whether the model states the type of every value, as PyTorch's exporters do.
/// Then there is nothing to infer.
static bool isTyped(const GraphProto &graph) {
  llvm::StringSet<> typed;
  for (const auto *infos : {&graph.value_info(), &graph.output()})
    for (const auto &info : *infos)
      if (info.has_type())
        typed.insert(info.name());
  return llvm::all_of(graph.node(), [&](const NodeProto &node) {
    return llvm::all_of(node.output(),
                        [&](const std::string &output) {
                          return output.empty() || typed.contains(output);
                        }) &&
           llvm::all_of(node.attribute(), [](const auto &attribute) {
             return isTyped(attribute.g()) &&
                    llvm::all_of(attribute.graphs(), isTyped);
           });
  });
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

TypeInference::TypeInference(const ModelProto &model, ArrayRef<int> order)
    : model(model), graph(&model.graph()) {
  if (!isTyped(model.graph()))
    group.spawn([this, order] { run(order); });
}

const GraphProto &TypeInference::get(Location loc) {
  group.sync();
  for (const std::string &remark : remarks)
    emitRemark(loc) << remark;
  remarks.clear();
  return *graph;
}

void TypeInference::copyModel(ArrayRef<int> order, ModelProto &copy) {
  copy.set_ir_version(model.ir_version());
  *copy.mutable_opset_import() = model.opset_import();
  if (InferenceCost(model).isTooHigh())
    remarks.push_back("types of what functions compute were not inferred: "
                      "their calls of each other are too many, or have no end");
  else
    *copy.mutable_functions() = model.functions();
  copyForInference(model.graph(), order, *copy.mutable_graph());
}

void TypeInference::run(ArrayRef<int> order) {
  if (claimsTooMuch(model)) {
    remarks.push_back("types were not inferred: a vector of integers has more "
                      "than " +
                      std::to_string(kLongestShape) + " elements");
    return;
  }
  auto *copy = google::protobuf::Arena::CreateMessage<ModelProto>(&arena);
  copyModel(order, *copy);
  BoundedSchemas schemas;
  ::onnx::ShapeInferenceOptions options(/*check_type=*/false,
                                        /*strict_mode=*/0,
                                        /*data_prop=*/true);
  try {
    ::onnx::shape_inference::InferShapes(*copy, &schemas, options);
  } catch (const std::exception &exception) {
    StringRef reason = exception.what();
    remarks.push_back("types were not inferred: " + reason.trim().str());
    return;
  }
  if (StringRef reason = schemas.whyLeftOut(); !reason.empty())
    remarks.push_back(
        ("shapes that depend on values were not inferred: " + reason).str());
  restoreOrder(*copy->mutable_graph(), order);
  graph = &copy->graph();
}
