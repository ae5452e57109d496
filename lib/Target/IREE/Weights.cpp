// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the constants that are passed as buffers, and writes weights.bin.

#include "Weights.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "TorchText.h"

#include <cstring>

using namespace mlir;
using namespace htp;

/// The alignment of weights in the file, as preferred by IREE's buffers and
/// vector loads.
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

/// The permutation if `value` is a Transpose of a constant, or nothing. It is
/// applied once, when weights are written, rather than in every run.
static std::optional<SmallVector<int64_t>> transposed(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 1 || getOpType(op) != "Transpose")
    return std::nullopt;
  TypedAttr contents = contentsOf(op->getOperand(0));
  auto type = contents ? cast<ShapedType>(contents.getType()) : ShapedType();
  if (!type || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8 != 0)
    return std::nullopt;
  SmallVector<int64_t> order;
  if (auto perm = op->getAttrOfType<ArrayAttr>("perm"))
    for (Attribute axis : perm)
      order.push_back(cast<IntegerAttr>(axis).getValue().getSExtValue());
  else
    for (int64_t axis = type.getRank(); axis-- > 0;)
      order.push_back(axis);
  // A file may hold any numbers. IREE reports a node that stays.
  SmallVector<int64_t> axes = order;
  llvm::sort(axes);
  if (!llvm::equal(axes, llvm::seq<int64_t>(0, type.getRank())))
    return std::nullopt;
  return order;
}

/// The constant behind a weight, before any transpose.
static Value sourceOf(Value weight) {
  return transposed(weight) ? weight.getDefiningOp()->getOperand(0) : weight;
}

/// Permutes the dimensions of a tensor.
static std::vector<char> transpose(ArrayRef<char> bytes, ShapedType type,
                                   ArrayRef<int64_t> order) {
  const size_t width = type.getElementTypeBitWidth() / 8;
  const size_t rank = order.size();
  SmallVector<int64_t> strides(rank, width), place(rank, 0);
  for (size_t axis = rank; axis-- > 1;)
    strides[axis - 1] = strides[axis] * type.getDimSize(axis);
  std::vector<char> result(bytes.size());
  for (size_t to = 0; to < result.size(); to += width) {
    int64_t from = 0;
    for (auto [axis, index] : llvm::zip(order, place))
      from += index * strides[axis];
    std::memcpy(result.data() + to, bytes.data() + from, width);
    for (size_t axis = rank; axis-- > 0;) {
      if (++place[axis] < type.getDimSize(order[axis]))
        break;
      place[axis] = 0;
    }
  }
  return result;
}

static Value withoutCopies(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1 || getOpType(op) != "Identity")
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool Weights::isWeight(Operation &op) {
  TypedAttr contents =
      op.getNumResults() == 1 ? contentsOf(op.getResult(0)) : TypedAttr();
  if (!contents)
    return false;
  constexpr int64_t kFew =
      8; // the same limit as in outlining: factors of a Resize
  constexpr int64_t kMany = 1 << 16;
  auto type = cast<ShapedType>(contents.getType());
  if (!isa<FloatType>(type.getElementType()))
    return type.getNumElements() > kMany;
  return type.getNumElements() > kFew || op.hasAttr(kParameterAttr);
}

bool Weights::isStored(Value value) {
  Value source = sourceOf(withoutCopies(value));
  return contentsOf(source) && isWeight(*source.getDefiningOp());
}

Weights::Weights(const LayeredModel &model) {
  for (const Layer &layer : model.layers)
    for (func::CallOp call : layer.calls)
      for (OpOperand &operand : call->getOpOperands())
        if (Value constant = withoutCopies(operand.get());
            contentsOf(constant) || transposed(constant)) {
          operand.set(constant);
          add(constant);
        }
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(func::FuncOp(model.main).front())))
    if (op.use_empty() && op.getNumResults() == 1 &&
        getOpType(&op) == "Identity")
      op.erase();
  // Visit readers first: a constant that is only transposed is not a weight of
  // its own.
  for (Operation &op : llvm::reverse(func::FuncOp(model.main).front())) {
    if (op.getNumResults() != 1 || op.use_empty())
      continue;
    Value value = op.getResult(0), source = sourceOf(value);
    auto isStored = [&](Operation *user) {
      return user->getNumResults() == 1 && find(user->getResult(0)) &&
             transposed(user->getResult(0));
    };
    if (contentsOf(source) && isWeight(*source.getDefiningOp()) &&
        !llvm::all_of(value.getUsers(), isStored))
      add(value);
  }
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
  Value source = sourceOf(weight);
  auto path = source.getDefiningOp()->getAttrOfType<StringAttr>(kParameterAttr);
  return path && !path.empty() ? path.getValue() : getValueName(weight);
}

bool Weights::isOnlyStored(Operation *op) const {
  return isConstant(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return user->getNumResults() == 1 && find(user->getResult(0));
         });
}

LogicalResult Weights::write(llvm::raw_ostream &os,
                             llvm::json::OStream &json) const {
  uint64_t offset = 0;
  for (Value weight : weights) {
    TypedAttr contents = contentsOf(sourceOf(weight));
    auto type = cast<ShapedType>(contents.getType());
    SmallVector<char> storage;
    std::vector<char> turned;
    auto bytes = getTensorBytes(contents, storage);
    SmallVector<int64_t> shape(type.getShape());
    if (auto order = transposed(weight); order && bytes) {
      turned = transpose(*bytes, type, *order);
      bytes = turned;
      for (auto [size, axis] : llvm::zip(shape, *order))
        size = type.getDimSize(axis);
    }
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
        for (int64_t size : shape)
          json.value(size);
      });
      json.attribute("offset", int64_t(start));
      json.attribute("bytes", int64_t(bytes->size()));
    });
  }
  return success();
}
