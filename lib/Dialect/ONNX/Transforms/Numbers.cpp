// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the ONNX ops that models compute sizes with, on partly known
// integers.

#include "Numbers.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <limits>

using namespace mlir;
using namespace htp::onnx;
using Number = Numbers::Number;
using Operands = ArrayRef<const Numbers *>;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The number of elements of a tensor; the largest number if that is too small.
static int64_t countOf(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

std::optional<Numbers> Numbers::read(Attribute value) {
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  auto type = typed ? dyn_cast<ShapedType>(typed.getType()) : ShapedType();
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxElements ||
      !type.getElementType().isInteger())
    return std::nullopt;
  Numbers numbers{llvm::to_vector(type.getShape()), {}};
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    for (const APInt &element : dense.getValues<APInt>())
      numbers.values.push_back(type.getElementType().isInteger(1)
                                   ? int64_t(element.getBoolValue())
                                   : element.getSExtValue());
    return numbers;
  }
  // Raw data: sizes are int64, bools take a byte.
  SmallVector<char> storage;
  auto bytes = getTensorBytes(value, storage);
  size_t width = type.getElementType().isInteger(1)
                     ? 1
                     : type.getElementType().getIntOrFloatBitWidth() / 8;
  if (!bytes || bytes->size() != width * type.getNumElements() ||
      (width != 1 && width != 4 && width != 8))
    return std::nullopt;
  for (size_t at = 0; at < bytes->size(); at += width) {
    const char *from = bytes->data() + at;
    int32_t word;
    int64_t number = static_cast<signed char>(*from);
    if (width == 8)
      std::memcpy(&number, from, width);
    if (width == 4) {
      std::memcpy(&word, from, width);
      number = word;
    }
    numbers.values.push_back(number);
  }
  return numbers;
}

bool Numbers::isComplete() const {
  return llvm::all_of(values, [](Number value) { return value.has_value(); });
}

DenseElementsAttr Numbers::toElements(Type elementType) const {
  if (!isComplete() || !elementType.isInteger())
    return {};
  unsigned width = elementType.getIntOrFloatBitWidth();
  SmallVector<APInt> elements;
  for (Number value : values)
    elements.emplace_back(width, static_cast<uint64_t>(*value),
                          /*isSigned=*/true, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(RankedTensorType::get(shape, elementType),
                                elements);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// The broadcast of these shapes; nothing if they are incompatible or the
/// result is too large.
static std::optional<SmallVector<int64_t>>
broadcast(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> shape : shapes)
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (auto [size, all] :
         llvm::zip(llvm::reverse(shape), llvm::reverse(result))) {
      if (size != 1 && all != 1 && size != all)
        return std::nullopt;
      all = size == 1 ? all : size;
    }
  if (countOf(result) > Numbers::kMaxElements)
    return std::nullopt;
  return result;
}

/// The element of `numbers`, broadcast to `shape`, at linear index `index`.
static Number at(const Numbers &numbers, ArrayRef<int64_t> shape,
                 int64_t index) {
  assert(shape.size() >= numbers.shape.size() &&
         "broadcasting only adds dimensions");
  int64_t offset = 0, stride = 1;
  size_t missing = shape.size() - numbers.shape.size();
  for (size_t axis = shape.size(); axis-- > 0;) {
    int64_t place = index % shape[axis];
    index /= shape[axis];
    if (axis < missing)
      break;
    int64_t size = numbers.shape[axis - missing];
    offset += (size == 1 ? 0 : place) * stride;
    stride *= size;
  }
  assert(offset < int64_t(numbers.values.size()) && "not of this shape");
  return numbers.values[offset];
}

static std::optional<Numbers>
elementwise(Operands operands,
            llvm::function_ref<Number(ArrayRef<Number>)> apply) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const Numbers *operand : operands) {
    if (!operand)
      return std::nullopt;
    shapes.push_back(operand->shape);
  }
  auto shape = broadcast(shapes);
  if (!shape)
    return std::nullopt;
  Numbers result{*shape, {}};
  for (int64_t index : llvm::seq<int64_t>(0, countOf(*shape))) {
    SmallVector<Number> elements;
    for (const Numbers *operand : operands)
      elements.push_back(at(*operand, *shape, index));
    result.values.push_back(apply(elements));
  }
  return result;
}

using Binary = Number (*)(int64_t, int64_t);

// A result that is out of range is not known: what overflows is no size.

static Number add(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? Number() : sum;
}

static Number subtract(int64_t a, int64_t b) {
  int64_t difference;
  return llvm::SubOverflow(a, b, difference) ? Number() : difference;
}

static Number multiply(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? Number() : product;
}

/// ONNX's Div truncates like C.
static Number divide(int64_t a, int64_t b) {
  if (b == -1)
    return subtract(0, a);
  return b == 0 ? Number() : a / b;
}

/// The result of ONNX's Mod has the sign of the divisor.
static Number modulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) // the least number % -1 traps
    return b == 0 ? Number() : 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static Binary findBinary(StringRef opType) {
  return llvm::StringSwitch<Binary>(opType)
      .Case("Add", add)
      .Case("Sub", subtract)
      .Case("Mul", multiply)
      .Case("Div", divide)
      .Case("Mod", modulo)
      .Case("Min",
            [](int64_t a, int64_t b) -> Number { return std::min(a, b); })
      .Case("Max",
            [](int64_t a, int64_t b) -> Number { return std::max(a, b); })
      .Case("Equal", [](int64_t a, int64_t b) -> Number { return a == b; })
      .Case("Less", [](int64_t a, int64_t b) -> Number { return a < b; })
      .Case("Greater", [](int64_t a, int64_t b) -> Number { return a > b; })
      .Case("LessOrEqual",
            [](int64_t a, int64_t b) -> Number { return a <= b; })
      .Case("GreaterOrEqual",
            [](int64_t a, int64_t b) -> Number { return a >= b; })
      .Case("And", [](int64_t a, int64_t b) -> Number { return a && b; })
      .Case("Or", [](int64_t a, int64_t b) -> Number { return a || b; })
      .Default(nullptr);
}

static std::optional<Numbers> evaluateElementwise(StringRef opType,
                                                  Operands operands) {
  if (Binary binary = findBinary(opType); binary && operands.size() == 2)
    return elementwise(operands, [&](ArrayRef<Number> in) {
      return in[0] && in[1] ? binary(*in[0], *in[1]) : Number();
    });
  if (opType == "Where" && operands.size() == 3)
    return elementwise(operands, [](ArrayRef<Number> in) {
      if (in[0])
        return *in[0] ? in[1] : in[2];
      return in[1] == in[2] ? in[1] : Number();
    });
  if (operands.size() != 1)
    return std::nullopt;
  if (opType == "Neg")
    return elementwise(operands, [](ArrayRef<Number> in) {
      return in[0] ? subtract(0, *in[0]) : in[0];
    });
  if (opType == "Not")
    return elementwise(operands, [](ArrayRef<Number> in) {
      return in[0] ? Number(!*in[0]) : in[0];
    });
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes and lists of them
//===----------------------------------------------------------------------===//

static int64_t integer(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : otherwise;
}

static std::optional<Numbers> evaluateShape(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type)
    return std::nullopt;
  int64_t rank = type.getRank();
  auto place = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = place(integer(op, "start", 0));
  int64_t end = std::max(start, place(integer(op, "end", rank)));
  Numbers result{{end - start}, {}};
  for (int64_t size : type.getShape().slice(start, end - start))
    result.values.push_back(ShapedType::isDynamic(size) ? Number()
                                                        : Number(size));
  return result;
}

static std::optional<Numbers> evaluateSize(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return Numbers{{}, {type.getNumElements()}};
}

/// Gather from a 1-D tensor.
static std::optional<Numbers> evaluateGather(Operation *op, Operands operands) {
  const Numbers *data = operands[0], *indices = operands[1];
  if (!data || !indices || data->shape.size() != 1)
    return std::nullopt;
  Numbers result{indices->shape, {}};
  int64_t length = data->shape[0];
  for (Number index : indices->values) {
    int64_t place = index && *index < 0 ? *index + length : index.value_or(-1);
    if (!index || place < 0 || place >= length)
      return std::nullopt;
    result.values.push_back(data->values[place]);
  }
  return result;
}

static std::optional<Numbers> evaluateConcat(Operands operands) {
  Numbers result{{0}, {}};
  for (const Numbers *operand : operands) {
    if (!operand || operand->shape.size() != 1)
      return std::nullopt;
    result.shape[0] += operand->shape[0];
    llvm::append_range(result.values, operand->values);
  }
  if (result.shape[0] > Numbers::kMaxElements)
    return std::nullopt;
  return result;
}

static std::optional<int64_t> single(const Numbers *numbers,
                                     int64_t otherwise) {
  if (!numbers)
    return otherwise;
  return numbers->values.size() == 1 ? numbers->values[0] : std::nullopt;
}

/// Slice of a 1-D tensor, with the bounds as operands (opset 10 and later).
static std::optional<Numbers> evaluateSlice(Operation *op, Operands operands) {
  if (operands.size() < 3 || !operands[0] || !operands[1] || !operands[2] ||
      operands[0]->shape.size() != 1)
    return std::nullopt;
  // The default does not apply to an operand that is present but unknown.
  for (size_t i = 3; i < operands.size(); ++i)
    if (!operands[i] && !isa<NoneType>(op->getOperand(i).getType()))
      return std::nullopt;
  auto start = single(operands[1], 0), end = single(operands[2], 0),
       step = single(operands.size() > 4 ? operands[4] : nullptr, 1);
  if (!start || !end || !step || *step <= 0)
    return std::nullopt;
  int64_t length = operands[0]->shape[0];
  auto place = [&](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + length : bound, 0, length);
  };
  Numbers result{{0}, {}};
  for (int64_t i = place(*start); i < place(*end); i += *step) {
    result.values.push_back(operands[0]->values[i]);
    ++result.shape[0];
  }
  return result;
}

static std::optional<Numbers> evaluateRange(Operands operands) {
  if (operands.size() != 3 || !operands[0] || !operands[1] || !operands[2])
    return std::nullopt;
  auto start = single(operands[0], 0), limit = single(operands[1], 0),
       step = single(operands[2], 1);
  if (!start || !limit || !step || *step == 0)
    return std::nullopt;
  Numbers result{{0}, {}};
  for (int64_t i = *start; *step > 0 ? i < *limit : i > *limit;) {
    if (result.shape[0] == Numbers::kMaxElements)
      return std::nullopt;
    result.values.push_back(i);
    ++result.shape[0];
    if (llvm::AddOverflow(i, *step, i))
      break;
  }
  return result;
}

/// The same elements, in the static shape of the result.
static std::optional<Numbers> reshaped(Operation *op, const Numbers *data) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!data || !type || !type.hasStaticShape() ||
      type.getNumElements() != int64_t(data->values.size()))
    return std::nullopt;
  return Numbers{llvm::to_vector(type.getShape()), data->values};
}

static std::optional<Numbers> evaluateCast(Operation *op, const Numbers *data) {
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!data || !type || !type.getElementType().isInteger())
    return std::nullopt;
  if (!type.getElementType().isInteger(1))
    return *data;
  return elementwise({data}, [](ArrayRef<Number> in) {
    return in[0] ? Number(*in[0] != 0) : in[0];
  });
}

static std::optional<Numbers> fill(const Numbers *shape, Number value) {
  if (!shape || shape->shape.size() != 1 || !shape->isComplete())
    return std::nullopt;
  Numbers result;
  for (Number size : shape->values)
    result.shape.push_back(*size);
  if (llvm::any_of(result.shape, [](int64_t size) { return size < 0; }) ||
      countOf(result.shape) > Numbers::kMaxElements)
    return std::nullopt;
  result.values.assign(countOf(result.shape), value);
  return result;
}

static std::optional<Numbers> evaluateExpand(Operands operands) {
  auto shape = operands[0] ? fill(operands[1], 0) : std::nullopt;
  if (!shape)
    return std::nullopt;
  return elementwise({operands[0], &*shape},
                     [](ArrayRef<Number> in) { return in[0]; });
}

static std::optional<Numbers> evaluateConstantOfShape(Operation *op,
                                                      Operands operands) {
  auto value = Numbers::read(op->getAttr("value"));
  if (!value || value->values.size() != 1)
    return std::nullopt;
  return fill(operands[0], value->values[0]);
}

std::optional<Numbers> htp::onnx::evaluate(Operation *op, Operands operands) {
  if (op->getNumResults() != 1 || !getDomain(op).empty())
    return std::nullopt;
  auto type = dyn_cast<TensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isInteger())
    return std::nullopt;
  StringRef opType = getOpType(op);
  using Evaluate = std::function<std::optional<Numbers>()>;
  auto special =
      llvm::StringSwitch<Evaluate>(opType)
          .Case("Constant", [&] { return Numbers::read(op->getAttr("value")); })
          .Case("Shape", [&] { return evaluateShape(op); })
          .Case("Size", [&] { return evaluateSize(op); })
          .Case("Gather", [&] { return evaluateGather(op, operands); })
          .Case("Concat", [&] { return evaluateConcat(operands); })
          .Case("Slice", [&] { return evaluateSlice(op, operands); })
          .Case("Range", [&] { return evaluateRange(operands); })
          .Case("Expand", [&] { return evaluateExpand(operands); })
          .Case("ConstantOfShape",
                [&] { return evaluateConstantOfShape(op, operands); })
          .Case("Cast", [&] { return evaluateCast(op, operands[0]); })
          .Cases({"Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten"},
                 [&] { return reshaped(op, operands[0]); })
          .Default(nullptr);
  return special ? special() : evaluateElementwise(opType, operands);
}

//===----------------------------------------------------------------------===//
// Shapes that are known in part
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> reshapeTo(const Numbers &wanted,
                                      RankedTensorType from, bool zeroIsZero) {
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(wanted.values)) {
    bool copies = size && *size == 0 && !zeroIsZero;
    if (copies)
      shape.push_back(from && int64_t(axis) < from.getRank()
                          ? from.getDimSize(axis)
                          : ShapedType::kDynamic);
    else
      shape.push_back(size && *size >= 0 ? *size : ShapedType::kDynamic);
  }
  return shape;
}

static SmallVector<int64_t> expandTo(const Numbers &wanted,
                                     RankedTensorType from) {
  size_t rank = std::max<size_t>(wanted.values.size(), from.getRank());
  SmallVector<int64_t> shape(rank, 1);
  llvm::copy(from.getShape(), shape.end() - from.getRank());
  for (auto [size, known] :
       llvm::zip(llvm::reverse(wanted.values), llvm::reverse(shape))) {
    if (size && *size != 1)
      known = *size;
    else if (!size && known == 1)
      known = ShapedType::kDynamic;
  }
  return shape;
}

std::optional<SmallVector<int64_t>> htp::onnx::shapeFrom(Operation *op,
                                                         Operands operands) {
  StringRef opType = getOpType(op);
  const Numbers *wanted = operands.empty() ? nullptr : operands.back();
  if (!wanted || wanted->shape.size() != 1 || !getDomain(op).empty())
    return std::nullopt;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (opType == "Reshape" && operands.size() == 2)
    return reshapeTo(*wanted, from, integer(op, "allowzero", 0) != 0);
  if (opType == "Expand" && operands.size() == 2 && from)
    return expandTo(*wanted, from);
  if (opType == "ConstantOfShape")
    return reshapeTo(*wanted, {}, /*zeroIsZero=*/true);
  return std::nullopt;
}
