// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "TorchText.h"

using namespace mlir;
using namespace htp;

/// Where a weight starts: what IREE's buffers and vector loads like.
static constexpr uint64_t kAlignment = 64;

/// The tensor that a constant holds, or null.
static TypedAttr contentsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isConstant(op) || isAbsentValue(op) || op->getNumResults() != 1)
    return {};
  auto contents = dyn_cast_or_null<TypedAttr>(op->getAttr("value"));
  return contents && isa<ShapedType>(contents.getType()) ? contents
                                                         : TypedAttr();
}

static Value withoutCopies(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1 || getOpType(op) != "Identity")
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Of what the main function itself reads: what a module learned, known as a
/// parameter or by its looks, or too much to be written into a program.
static bool isWeight(Operation &op, TypedAttr contents) {
  constexpr int64_t kFew = 8; // as outlining has it: factors of a Resize
  constexpr int64_t kMany = 1 << 16;
  auto type = cast<ShapedType>(contents.getType());
  if (!isa<FloatType>(type.getElementType()))
    return type.getNumElements() > kMany;
  return type.getNumElements() > kFew || op.hasAttr(kParameterAttr);
}

Weights::Weights(const LayeredModel &model) {
  for (const Layer &layer : model.layers)
    for (func::CallOp call : layer.calls)
      for (OpOperand &operand : call->getOpOperands())
        if (Value constant = withoutCopies(operand.get());
            contentsOf(constant)) {
          operand.set(constant);
          add(constant);
        }
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(func::FuncOp(model.main).front())))
    if (op.use_empty() && op.getNumResults() == 1 &&
        getOpType(&op) == "Identity")
      op.erase();
  for (Operation &op : func::FuncOp(model.main).front())
    if (op.getNumResults() == 1 && !op.use_empty())
      if (TypedAttr contents = contentsOf(op.getResult(0));
          contents && isWeight(op, contents))
        add(op.getResult(0));
}

void Weights::add(Value constant) {
  if (numbers.try_emplace(constant, weights.size()).second)
    weights.push_back(constant);
}

std::optional<unsigned> Weights::find(Value value) const {
  auto known = numbers.find(value);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

bool Weights::takesWeight(const Layer &layer, unsigned argument) const {
  return llvm::all_of(layer.calls, [&](func::CallOp call) {
    return numbers.contains(call.getOperand(argument));
  });
}

static StringRef nameOf(Value weight) {
  auto path = weight.getDefiningOp()->getAttrOfType<StringAttr>(kParameterAttr);
  return path && !path.empty() ? path.getValue() : getValueName(weight);
}

LogicalResult Weights::write(llvm::raw_ostream &os,
                             llvm::json::OStream &json) const {
  uint64_t offset = 0;
  for (Value weight : weights) {
    TypedAttr contents = contentsOf(weight);
    auto type = cast<ShapedType>(contents.getType());
    SmallVector<char> storage;
    auto bytes = getTensorBytes(contents, storage);
    if (!bytes)
      return weight.getDefiningOp()->emitError("the contents of '")
             << nameOf(weight) << "' cannot be read";
    uint64_t start = llvm::alignTo(offset, kAlignment);
    os.write_zeros(start - offset);
    os.write(bytes->data(), bytes->size());
    offset = start + bytes->size();
    json.object([&] {
      json.attribute("name", nameOf(weight));
      json.attribute("type", torchElement(type.getElementType()));
      json.attributeArray("shape", [&] {
        for (int64_t size : type.getShape())
          json.value(size);
      });
      json.attribute("offset", int64_t(start));
      json.attribute("bytes", int64_t(bytes->size()));
    });
  }
  return success();
}
