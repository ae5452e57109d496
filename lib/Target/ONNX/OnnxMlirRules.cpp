// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes valid ONNX nodes that the verifier of onnx-mlir's operation
// rejects, as onnx-mlir cannot compile them.

#include "OnnxMlirOps.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <algorithm>

using namespace mlir;

static int64_t getInt(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : otherwise;
}

static bool hasOperand(Operation *op, unsigned index) {
  return index < op->getNumOperands() &&
         !isa<NoneType>(op->getOperand(index).getType());
}

/// onnx-mlir requires fmod for floats and its absence for integers.
static bool isOtherMod(Operation *op) {
  auto type = dyn_cast<TensorType>(op->getOperand(0).getType());
  if (!type)
    return true;
  return isa<FloatType>(type.getElementType()) != (getInt(op, "fmod", 0) == 1);
}

/// A Shape whose `start` comes after its `end`.
static bool isReversedShape(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type)
    return false;
  int64_t rank = type.getRank();
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  return clamp(getInt(op, "start", 0)) > clamp(getInt(op, "end", rank));
}

/// Pads that depend on dynamic sizes.
static bool hasDynamicPads(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return op->hasAttr("output_shape") && type && type.getRank() > 2 &&
         llvm::any_of(type.getShape().drop_front(2), ShapedType::isDynamic);
}

bool htp::isRefusedByOnnxMlir(Operation *op) {
  StringRef opType = onnx::getOpType(op);
  if (!hasOperand(op, 0))
    return false;
  if (opType == "Pad")
    return hasOperand(op, 3); // axes
  if (opType == "Mod")
    return isOtherMod(op);
  if (opType == "Shape")
    return isReversedShape(op);
  if (opType == "IsInf")
    return getInt(op, "detect_positive", 1) == 0 &&
           getInt(op, "detect_negative", 1) == 0;
  if (opType == "ConvTranspose")
    return hasDynamicPads(op);
  return false;
}

Value htp::foldForOnnxMlir(Operation *op, OpBuilder &builder) {
  bool isGiven = hasOperand(op, 0);
  if (isGiven && isa<onnx::OptType>(op->getOperand(0).getType()))
    return {};
  StringRef opType = onnx::getOpType(op);
  if (opType == "OptionalGetElement" && isGiven)
    return op->getOperand(0);
  if (opType != "OptionalHasElement")
    return {};
  auto type = RankedTensorType::get({}, builder.getI1Type());
  OperationState state(op->getLoc(), "onnx.Constant");
  state.addAttribute("value", DenseElementsAttr::get(type, isGiven));
  state.addTypes(type);
  return builder.create(state)->getResult(0);
}
