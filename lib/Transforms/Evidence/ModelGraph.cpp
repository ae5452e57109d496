// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the plain graph: skips copies and re-encodings, recognises fused ops,
// scales and quantized biases.

#include "ModelGraph.h"

#include "HTP/Alignment/Emission.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Weights/Fingerprint.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace htp;

/// Whether a change of the memory layout has taken in a transposition of the
/// model: the channels are the last axis on one of its sides.
static bool isTransposition(Operation *op) {
  auto last = op->getAttrOfType<IntegerAttr>("channels_last");
  return getOpType(op).starts_with("Reorder") && last &&
         !last.getValue().isZero();
}

static ElementKind elementKind(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  if (isa<FloatType>(element))
    return ElementKind::Float;
  if (element.isInteger(1))
    return ElementKind::Bool;
  return element.isIntOrIndex() ? ElementKind::Integer : ElementKind::Unknown;
}

/// The size of an element in bits; 0 if it is not known.
static unsigned elementBits(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

/// The element kind that an operator makes, if its type does not tell.
static ElementKind inferKind(Operation *op, ArrayRef<ElementKind> operands) {
  enum class Rule { First, Second, Integer, Bool };
  Rule rule = llvm::StringSwitch<Rule>(getOpType(op))
                  .Cases({"Shape", "ArgMax", "ArgMin", "NonZero", "Size"},
                         Rule::Integer)
                  .Cases({"Equal", "Less", "Greater", "LessOrEqual",
                          "GreaterOrEqual", "And", "Or", "Not", "IsNaN", "Xor"},
                         Rule::Bool)
                  .Case("Where", Rule::Second)
                  .Default(Rule::First);
  switch (rule) {
  case Rule::Integer:
    return ElementKind::Integer;
  case Rule::Bool:
    return ElementKind::Bool;
  case Rule::First:
    return operands.empty() ? ElementKind::Float : operands[0];
  case Rule::Second:
    return operands.size() < 2 ? ElementKind::Float : operands[1];
  }
  llvm_unreachable("unknown rule");
}

namespace {

class GraphBuilder {
public:
  GraphBuilder(ModelGraph &result, const DenseSet<int64_t> &sizes)
      : result(result), graph(result.graph), sizes(sizes) {}

  void run(FunctionOpInterface function);

private:
  int32_t newValue(Value value);
  int32_t use(Value value);
  void addBlock(Block &block);
  void addOperation(Operation *op);
  void addConstant(Operation *op, Attribute tensor);
  void addNode(Operation *op);
  bool addScales(Operation *op);
  int32_t seenThrough(Operation *op);
  bool addsQuantizedBias(Operation *op);
  bool readsQuantizedBias(Operation *op);
  void readFusion(Operation *op, GraphNode &node);

  ModelGraph &result;
  Graph &graph;
  const DenseSet<int64_t> &sizes;
  DenseMap<Value, int32_t> values;
  DenseSet<Value> scales;
};

} // namespace

int32_t GraphBuilder::newValue(Value value) {
  int32_t index = graph.values.size();
  GraphValue &made = graph.values.emplace_back();
  made.name = getValueName(value);
  made.kind = elementKind(value.getType());
  made.bits = elementBits(value.getType());
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    made.hasShape = true;
    for (int64_t size : type.getShape())
      made.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  values[value] = index;
  return index;
}

/// The number of a value; -1 for a value that stands for a missing input.
int32_t GraphBuilder::use(Value value) {
  auto found = values.find(value);
  return found == values.end() ? -1 : found->second;
}

void GraphBuilder::addConstant(Operation *op, Attribute tensor) {
  int32_t index = newValue(op->getResult(0));
  graph.values[index].constant = graph.constants.size();
  result.constants.push_back(op->getResult(0));
  TensorContent &content = graph.constants.emplace_back();
  content.kind = graph.values[index].kind;
  auto typed = dyn_cast_or_null<TypedAttr>(tensor);
  auto type = typed ? dyn_cast<ShapedType>(typed.getType()) : ShapedType();
  if (!type || !type.hasStaticShape())
    return;
  content.shape.assign(type.getShape().begin(), type.getShape().end());
  content.elements = type.getNumElements();
  content.kind = elementKind(type);
  if (type.getElementType().isIntOrFloat())
    content.bits = type.getElementTypeBitWidth();
  if (!sizes.contains(content.elements))
    return;
  std::optional<ElementType> element =
      elementTypeFromName(dtypeOf(type.getElementType()));
  SmallVector<char, 0> storage;
  std::optional<ArrayRef<char>> bytes = getTensorBytes(tensor, storage);
  if (element && bytes)
    content.values = hashValues(*bytes, *element);
}

/// Whether a fused product transposes one of its operands.
static bool transposes(Operation *op) {
  return llvm::any_of(
      ArrayRef<StringRef>{"transA", "transB", "transBatchA", "transBatchB"},
      [&](StringRef name) {
        auto flag = op->getAttrOfType<IntegerAttr>(name);
        return flag && !flag.getValue().isZero();
      });
}

/// Reads the attributes that say what else a fused op does: an activation, a
/// scale.
void GraphBuilder::readFusion(Operation *op, GraphNode &node) {
  if (auto activation = op->getAttrOfType<StringAttr>("activation"))
    node.activation = activation.getValue();
  if (auto alpha = op->getAttrOfType<FloatAttr>("alpha"))
    node.scales = std::abs(alpha.getValueAsDouble() - 1) > 1e-6;
  // A FusedMatMul was fused with a transposition or with a scale. Without the
  // former it has the latter, even if the scale is 1.
  if (node.op == "FusedMatMul" && !transposes(op))
    node.scales = true;
}

void GraphBuilder::addNode(Operation *op) {
  int32_t index = graph.nodes.size();
  SmallVector<ElementKind> kinds;
  {
    GraphNode &node = graph.nodes.emplace_back();
    node.op = isTransposition(op) ? "Transpose" : plainOperator(getOpType(op));
    node.name = getNodeName(op);
    readFusion(op, node);
    for (Value operand : op->getOperands()) {
      node.inputs.push_back(use(operand));
      if (node.inputs.back() >= 0)
        kinds.push_back(graph.values[node.inputs.back()].kind);
    }
    // The results of a body leave it through the node that holds the body.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          for (Value made : block.getTerminator()->getOperands())
            node.inputs.push_back(use(made));
  }
  for (Value made : op->getResults()) {
    int32_t value = newValue(made);
    graph.values[value].producer = index;
    if (graph.values[value].kind == ElementKind::Unknown)
      graph.values[value].kind = inferKind(op, kinds);
    graph.nodes[index].outputs.push_back(value);
  }
  result.operations.push_back(op);
  result.nodeOf[op] = index;
}

/// Records the results of `op` that are scales or zero points of a tensor that
/// is quantized at run time; the original model has no such tensors. Returns
/// whether `op` makes nothing else.
bool GraphBuilder::addScales(Operation *op) {
  if (getOpType(op) == "DynamicQuantizeLinear")
    scales.insert_range(op->getResults().drop_front());
  // The product of a tensor's scale and a weight's scale.
  auto isScale = [&](Value value) { return scales.contains(value); };
  auto isWeight = [](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && isInitializer(maker);
  };
  bool joins = getOpType(op) == "Mul" &&
               llvm::any_of(op->getOperands(), isScale) &&
               llvm::all_of(op->getOperands(), [&](Value value) {
                 return isScale(value) || isWeight(value);
               });
  if (joins)
    scales.insert_range(op->getResults());
  return joins;
}

/// Whether `op` adds a constant to the result of a convolution on integers. In
/// the float model this was the bias of the convolution.
bool GraphBuilder::addsQuantizedBias(Operation *op) {
  if (getOpType(op) != "Add" || op->getNumOperands() != 2)
    return false;
  int32_t made = use(op->getOperand(0)), bias = use(op->getOperand(1));
  if (made < 0 || bias < 0 || graph.values[bias].constant < 0)
    return false;
  int32_t producer = graph.values[made].producer;
  return producer >= 0 &&
         getOpType(result.operations[producer]) == "ConvInteger";
}

/// Whether `op` only reshapes such a bias so that it can be added.
bool GraphBuilder::readsQuantizedBias(Operation *op) {
  if (getOpType(op) != "Reshape" || !op->getResult(0).hasOneUse())
    return false;
  Operation *reader = *op->getResult(0).getUsers().begin();
  int32_t bias = use(op->getOperand(0));
  if (getOpType(reader) != "Add" || bias < 0 ||
      graph.values[bias].constant < 0 || reader->getNumOperands() != 2 ||
      reader->getOperand(1) != op->getResult(0))
    return false;
  // The convolution may come after the bias and is then not in the graph yet,
  // so look for it in the IR.
  Operation *maker = reader->getOperand(0).getDefiningOp();
  for (unsigned steps = 0; maker && maker->getNumOperands() && steps < 3;
       ++steps) {
    if (getOpType(maker) == "ConvInteger")
      return true;
    if (getOpType(maker) != "Mul" && getOpType(maker) != "Cast")
      return false;
    maker = maker->getOperand(0).getDefiningOp();
  }
  return false;
}

/// Whether `op` only transposes a table for the nodes that look up in it: the
/// table is stored in the form in which a product that shares it reads it.
static bool turnsTable(Operation *op) {
  return getOpType(op) == "Transpose" && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return getOpType(user) == "Gather";
         });
}

/// Whether `op` only lays packed integers out for operators on quantized
/// weights: a product and a look-up that share a table store it differently.
static bool laysOutQuantized(Operation *op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
    return plainOperator(getOpType(user)) != getOpType(user);
  });
}

/// The value that `op` passes on in another encoding, or -1. Because of this,
/// the weights and activations of a quantized model look like those of the
/// original model.
int32_t GraphBuilder::seenThrough(Operation *op) {
  int32_t source = op->getNumOperands() ? use(op->getOperand(0)) : -1;
  if (source < 0)
    return -1;
  auto type = [](Operation *op) { return op ? getOpType(op) : StringRef(); };
  bool passesOn =
      llvm::StringSwitch<bool>(type(op))
          .Cases({"QuantizeLinear", "DequantizeLinear"}, true)
          .Case("DynamicQuantizeLinear", true)
          // Other memory layouts, which ONNX Runtime chooses for a processor.
          .Cases({"ReorderInput", "ReorderOutput"}, !isTransposition(op))
          // A bias that a quantizer moved out of a convolution.
          .Case("Add", addsQuantizedBias(op))
          .Case("Reshape",
                readsQuantizedBias(op) || (graph.values[source].constant >= 0 &&
                                           laysOutQuantized(op)))
          .Case("Identity", graph.values[source].constant >= 0)
          .Case("Transpose",
                graph.values[source].constant >= 0 && turnsTable(op))
          // The conversion of a dynamically quantized product back to floats.
          .Case("Cast",
                type(op->getOperand(0).getDefiningOp()).ends_with("Integer"))
          .Case("Mul",
                op->getNumOperands() == 2 && scales.contains(op->getOperand(1)))
          .Default(false);
  return passesOn ? source : -1;
}

void GraphBuilder::addOperation(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      // Take the arguments of a body for the operands of the node, in order.
      for (BlockArgument argument : block.getArguments()) {
        unsigned number = argument.getArgNumber();
        int32_t outer =
            number < op->getNumOperands() ? use(op->getOperand(number)) : -1;
        if (outer >= 0)
          values[argument] = outer;
      }
      addBlock(block);
    }
  if (op->getNumResults() == 1 && isa<NoneType>(op->getResult(0).getType()) &&
      op->getNumOperands() == 0)
    return; // stands for a missing input
  bool noInputs = op->getNumOperands() == 0 && op->getNumResults() == 1 &&
                  op->getNumRegions() == 0;
  if (isInitializer(op) || (noInputs && op->hasAttr("value")))
    return addConstant(op, op->getAttr("value"));
  Attribute constant;
  if (noInputs && matchPattern(op, m_Constant(&constant)))
    return addConstant(op, isa<TypedAttr>(constant) ? constant : Attribute());
  if (noInputs && getOpType(op) == "Constant") // value_ints and the like
    return addConstant(op, {});
  if (!isNode(op))
    return;
  if (addScales(op))
    return;
  if (int32_t source = seenThrough(op); source >= 0) {
    values[op->getResult(0)] = source;
    // Dequantizing belongs to the producer of the value, but quantizing to its
    // reader.
    int32_t maker = graph.values[source].producer;
    if (maker >= 0 && !getOpType(op).ends_with("QuantizeLinear") &&
        getOpType(op) != "ReorderInput")
      result.ends.push_back({op, result.nodeOf[op] = maker});
    return;
  }
  addNode(op);
}

void GraphBuilder::addBlock(Block &block) {
  for (Operation &op : block)
    addOperation(&op);
}

void GraphBuilder::run(FunctionOpInterface function) {
  if (function.isExternal())
    return;
  Region &body = function.getFunctionBody();
  for (BlockArgument argument : body.getArguments())
    graph.inputs.push_back(newValue(argument));
  for (Block &block : body) {
    addBlock(block);
    if (!block.mightHaveTerminator())
      continue;
    for (Value returned : block.getTerminator()->getOperands())
      if (int32_t value = use(returned); value >= 0)
        graph.outputs.push_back(value);
  }
}

ModelGraph::ModelGraph(FunctionOpInterface function,
                       const DenseSet<int64_t> &sizes) {
  GraphBuilder(*this, sizes).run(function);
}
