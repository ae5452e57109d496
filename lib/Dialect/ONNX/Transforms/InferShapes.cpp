// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --onnx-infer-shapes: infers sizes that ONNX's own inference leaves dynamic.
//
//   %y = "onnx.Expand"(%v, %size) : … -> tensor<?x?xf32>
// becomes, if the elements of %size can be computed,
//   %y = "onnx.Expand"(%v, %size) : … -> tensor<1x16xf32>
//
// A single walk in program order: first the integers that an op computes
// (Numbers), then its result types, from what is known of its operands.

#include "HTP/Dialect/ONNX/Transforms/Passes.h"
#include "HTP/Target/ONNX/OpInference.h"
#include "Numbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace htp {
#define GEN_PASS_DEF_ONNXINFERSHAPES
#include "HTP/Dialect/ONNX/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using htp::onnx::Numbers;

namespace {

struct InferShapes : htp::impl::ONNXInferShapesBase<InferShapes> {
  using ONNXInferShapesBase::ONNXInferShapesBase;
  void runOnOperation() override;

private:
  LogicalResult readDims();
  void setDims(func::FuncOp function);
  void infer(func::FuncOp function);
  void infer(Operation *op);
  void refine(Value value, Type type);

  struct Dim {
    int64_t size = 0;
    bool used = false;
  };
  llvm::DenseMap<Value, Numbers> numbers;
  llvm::StringMap<Dim> sizes;
};

} // namespace

LogicalResult InferShapes::readDims() {
  sizes.clear();
  for (StringRef text : dims) {
    auto [name, size] = text.rsplit('=');
    int64_t number = 0;
    if (name.empty() || size.getAsInteger(10, number) || number < 0)
      return emitError(getOperation().getLoc())
             << "expected name=size in dims, found '" << text << "'";
    sizes[name] = {number};
  }
  return success();
}

/// The name of a dynamic dimension, from "0:batch,2:length"; if it has none,
/// the name of its input and the axis.
static std::string getDimName(func::FuncOp function, unsigned argument,
                              int64_t axis) {
  auto params =
      function.getArgAttrOfType<StringAttr>(argument, "onnx.dim_params");
  SmallVector<StringRef> entries;
  if (params)
    params.getValue().split(entries, ',');
  for (StringRef entry : entries) {
    auto [index, name] = entry.split(':');
    if (index == std::to_string(axis))
      return name.str();
  }
  auto name = function.getArgAttrOfType<StringAttr>(argument, "onnx.name");
  return (name ? name.getValue() : StringRef()).str() + "." +
         std::to_string(axis);
}

/// Whether a value is passed to a function, whose signature must not change.
static bool isPassedOn(Value value) {
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return isa<func::CallOp>(user); });
}

void InferShapes::setDims(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape() || isPassedOn(argument))
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [axis, size] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(size))
        continue;
      auto it = sizes.find(getDimName(function, argument.getArgNumber(), axis));
      if (it == sizes.end())
        continue;
      size = it->second.size;
      it->second.used = true;
    }
    argument.setType(type.clone(shape));
  }
}

void InferShapes::runOnOperation() {
  if (failed(readDims()))
    return signalPassFailure();
  llvm::DenseSet<StringAttr> called;
  getOperation().walk([&](func::CallOp call) {
    called.insert(call.getCalleeAttr().getRootReference());
  });
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && !function->hasAttr("onnx.function_name") &&
        !called.contains(function.getSymNameAttr())) {
      setDims(function);
      infer(function);
    }
  for (auto &entry : sizes)
    if (!entry.second.used) {
      emitError(getOperation().getLoc())
          << "no input has an open dimension '" << entry.first() << "'";
      return signalPassFailure();
    }
}

void InferShapes::infer(func::FuncOp function) {
  numbers.clear();
  Block &body = function.front();
  for (Operation &op : body.without_terminator())
    infer(&op);
  function.setType(FunctionType::get(&getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

/// Refines the value's type with the sizes that only `type` knows.
void InferShapes::refine(Value value, Type type) {
  auto found = dyn_cast_or_null<RankedTensorType>(type);
  if (!found || isPassedOn(value))
    return;
  auto known = dyn_cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(found.getShape());
  if (known) {
    if (known.getRank() != found.getRank() ||
        known.getElementType() != found.getElementType())
      return;
    for (auto [size, old] : llvm::zip(shape, known.getShape()))
      size = ShapedType::isDynamic(old) ? size : old;
  } else if (auto tensor = dyn_cast<TensorType>(value.getType());
             tensor && tensor.getElementType() != found.getElementType()) {
    return;
  }
  Type refined = RankedTensorType::get(shape, found.getElementType());
  if (refined == value.getType())
    return;
  value.setType(refined);
  ++numRefined;
}

void InferShapes::infer(Operation *op) {
  if (op->getName().getDialectNamespace() != "onnx" || op->getNumRegions())
    return;
  SmallVector<const Numbers *> operands;
  SmallVector<DenseElementsAttr> elements;
  for (Value operand : op->getOperands()) {
    auto it = numbers.find(operand);
    const Numbers *known = it == numbers.end() ? nullptr : &it->second;
    auto type = dyn_cast<ShapedType>(operand.getType());
    operands.push_back(known);
    elements.push_back(known && type ? known->toElements(type.getElementType())
                                     : DenseElementsAttr());
  }
  bool isOpen = llvm::any_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !tensor.hasStaticShape();
  });
  if (isOpen && op->getNumOperands()) {
    for (auto [result, type] :
         llvm::zip(op->getResults(), htp::inferTypes(op, elements)))
      refine(result, type);
    if (op->getNumResults() == 1)
      if (auto shape = htp::onnx::shapeFrom(op, operands))
        if (auto tensor = dyn_cast<TensorType>(op->getResult(0).getType()))
          refine(op->getResult(0),
                 RankedTensorType::get(*shape, tensor.getElementType()));
  }
  if (auto made = htp::onnx::evaluate(op, operands)) {
    auto tensor = cast<TensorType>(op->getResult(0).getType());
    refine(op->getResult(0),
           RankedTensorType::get(made->shape, tensor.getElementType()));
    numbers[op->getResult(0)] = std::move(*made);
  }
}
