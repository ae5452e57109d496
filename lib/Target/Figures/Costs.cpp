// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of operators that multiply and add, with a rule for each.

#include "Costs.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace htp;

//===----------------------------------------------------------------------===//
// Amounts and tensors
//===----------------------------------------------------------------------===//

template <typename Function>
static Amount combine(Amount a, Amount b, Function overflows) {
  int64_t result;
  if (!a.known() || !b.known() || overflows(*a.known(), *b.known(), result))
    return {};
  return result;
}

Amount htp::operator*(Amount a, Amount b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t &result) {
    return bool(llvm::MulOverflow(x, y, result));
  });
}

Amount htp::operator+(Amount a, Amount b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t &result) {
    return bool(llvm::AddOverflow(x, y, result));
  });
}

Amount htp::operator/(Amount a, Amount b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t &result) {
    result = y ? x / y : 0;
    return !y;
  });
}

static Amount elementsOf(ArrayRef<int64_t> sizes) {
  Amount all = 1;
  for (int64_t size : sizes)
    all = all * (ShapedType::isDynamic(size) ? Amount() : Amount(size));
  return all;
}

static Amount elementsOf(Type type) {
  auto tensor = dyn_cast_or_null<TensorType>(type);
  return tensor && tensor.hasRank() ? elementsOf(tensor.getShape()) : Amount();
}

std::optional<int64_t> htp::elementBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return (Amount(2) * elementBits(complex.getElementType())).known();
  if (!element.isIntOrFloat())
    return std::nullopt;
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

std::optional<int64_t> htp::bytesOf(Type type) {
  auto tensor = dyn_cast_or_null<TensorType>(type);
  if (!tensor)
    return std::nullopt;
  Amount bits = elementsOf(type) * elementBits(tensor.getElementType());
  return ((bits + 7) / 8).known();
}

//===----------------------------------------------------------------------===//
// Rules: multiply-adds per element of the result, times the elements
//===----------------------------------------------------------------------===//

namespace {
class Operands {
public:
  explicit Operands(const Operator &op) : op(op) {}

  bool has(size_t index) const {
    return index < op.inputs.size() && op.inputs[index];
  }
  /// The sizes of an input; nothing if it is missing or unranked.
  std::optional<ArrayRef<int64_t>> sizes(size_t index) const {
    auto tensor = has(index) ? dyn_cast<TensorType>(op.inputs[index]) : nullptr;
    if (!tensor || !tensor.hasRank())
      return std::nullopt;
    return tensor.getShape();
  }
  /// The rank of an input; -1 if unknown.
  int64_t rank(size_t index) const {
    return sizes(index) ? int64_t(sizes(index)->size()) : -1;
  }
  /// One size of an input; a negative `axis` counts from the end.
  Amount size(size_t index, int64_t axis) const {
    int64_t all = rank(index);
    if (axis < -all || axis >= all)
      return {};
    int64_t size = (*sizes(index))[axis < 0 ? all + axis : axis];
    return ShapedType::isDynamic(size) ? Amount() : Amount(size);
  }
  /// The number of elements of the first result.
  Amount made() const {
    return op.outputs.empty() ? Amount() : elementsOf(op.outputs.front());
  }
  /// An integer attribute.
  Amount number(StringRef name) const {
    auto value = op.op->getAttrOfType<IntegerAttr>(name);
    return value && value.getValue().getBitWidth() <= 64
               ? Amount(value.getValue().getSExtValue())
               : Amount();
  }
  bool isSet(StringRef name) const { return number(name).known().value_or(0); }

  const Operator &op;
};
} // namespace

using Rule = Amount (*)(const Operands &);

/// MatMul and its fused and quantized forms: every element of the result sums
/// over the last axis of A.
static Amount matmul(const Operands &of) {
  bool transposed = of.isSet("transA") && of.rank(0) > 1;
  return of.made() * of.size(0, transposed ? -2 : -1);
}

static Amount gemm(const Operands &of) {
  return of.made() * of.size(0, of.isSet("transA") ? 0 : 1);
}

/// MatMulNBits: the attribute K is the size of the contracted axis.
static Amount packed(const Operands &of) { return of.made() * of.number("K"); }

/// The size of a window: the product of the weight's sizes except the first.
static Amount window(const Operands &of, size_t weight) {
  std::optional<ArrayRef<int64_t>> sizes = of.sizes(weight);
  if (!sizes || !elementsOf(*sizes).known())
    return {};
  return elementsOf(sizes->empty() ? *sizes : sizes->drop_front());
}

/// Every element of the result sums over a window: (out, in / group, kernel…).
static Amount conv(const Operands &of) { return of.made() * window(of, 1); }

static Amount qlinearConv(const Operands &of) {
  return of.made() * window(of, 3);
}

/// Every element of the input is multiplied with a window: (in, out / group,
/// kernel…).
static Amount convTranspose(const Operands &of) {
  return of.has(0) ? elementsOf(of.op.inputs[0]) * window(of, 1) : Amount();
}

/// Steps × batch × directions × gates × hidden × (input + hidden).
template <int Gates> static Amount recurrent(const Operands &of) {
  Amount rows = of.size(1, 1);
  return of.size(0, 0) * of.size(0, 1) * of.size(1, 0) * rows *
         (of.size(1, 2) + rows / Gates);
}

/// The product of the sizes of all letters, once for every operand after the
/// first.
static Amount einsum(const Operands &of) {
  auto equation = of.op.op->getAttrOfType<StringAttr>("equation");
  if (!equation || equation.getValue().contains('.'))
    return {};
  std::string text = equation.str();
  llvm::erase(text, ' ');
  SmallVector<StringRef> terms;
  StringRef(text).split("->").first.split(terms, ',');
  std::map<char, Amount> letters;
  for (auto [index, term] : llvm::enumerate(terms)) {
    if (int64_t(term.size()) != of.rank(index))
      return {};
    for (auto [axis, letter] : llvm::enumerate(term))
      letters[letter] = of.size(index, axis);
  }
  Amount all = int64_t(terms.size()) - 1;
  for (auto &[letter, size] : letters)
    all = all * size;
  return all;
}

/// Queries times keys, then scores times values; `width` is the sum over all
/// heads.
static Amount scores(Amount batch, Amount length, Amount keys, Amount width,
                     Amount valueWidth) {
  return batch * length * keys * (width + valueWidth);
}

/// ONNX's Attention: (batch, heads, length, size), or (batch, length, heads *
/// size) with the number of heads as an attribute.
static Amount attention(const Operands &of) {
  // The cached keys, in addition to the new ones.
  Amount past = of.has(4) ? of.size(4, 2) : Amount(0);
  if (!of.sizes(1) || !of.sizes(2))
    return {};
  if (of.rank(0) == 4) {
    Amount heads = of.size(0, 1);
    return scores(of.size(0, 0), of.size(0, 2), of.size(1, 2) + past,
                  heads * of.size(0, 3), heads * of.size(2, 3));
  }
  if (of.rank(0) != 3 || of.rank(1) != 3 || of.rank(2) != 3)
    return {};
  return scores(
      of.size(0, 0), of.size(0, 1), of.size(1, 1) + past, of.size(0, 2),
      of.size(2, 2) * of.number("q_num_heads") / of.number("kv_num_heads"));
}

/// com.microsoft: query (batch, length, width), key and value (batch, keys,
/// width), or by heads.
static Amount multiHeadAttention(const Operands &of) {
  if (of.rank(0) != 3 || !of.has(1) || !of.has(2))
    return {}; // packed keys, whose widths the model does not state
  bool byHeads = of.rank(1) == 4;
  Amount keys = of.size(1, byHeads ? 2 : 1);
  Amount width = byHeads ? of.size(2, 1) * of.size(2, 3) : of.size(2, 2);
  if (of.has(6))
    keys = keys + of.size(6, 2);
  return scores(of.size(0, 0), of.size(0, 1), keys, of.size(0, 2), width);
}

/// com.microsoft Attention: one projection to queries, keys and values, then
/// the scores.
static Amount packedAttention(const Operands &of) {
  if (of.has(4))
    return {}; // a cache, which may be filled to any degree
  Amount batch = of.size(0, 0), length = of.size(0, 1), columns = of.size(1, 1);
  Amount queries = columns / 3, values = columns / 3;
  auto parts = of.op.op->getAttrOfType<ArrayAttr>("qkv_hidden_sizes");
  if (parts && !parts.empty()) {
    auto part = [&](size_t index) -> Amount {
      auto size = index < parts.size() ? dyn_cast<IntegerAttr>(parts[index])
                                       : IntegerAttr();
      return size ? Amount(size.getValue().getSExtValue()) : Amount();
    };
    queries = part(0), values = part(2);
  }
  return batch * length * of.size(0, 2) * columns +
         scores(batch, length, length, queries, values);
}

static Amount anyAttention(const Operands &of) {
  bool own = of.op.domain.empty() || of.op.domain == "ai.onnx";
  return own ? attention(of) : packedAttention(of);
}

/// com.microsoft GroupQueryAttention: the second result has all keys present
/// after the step.
static Amount groupQueryAttention(const Operands &of) {
  auto present = of.op.outputs.size() > 1
                     ? dyn_cast_or_null<TensorType>(of.op.outputs[1])
                     : nullptr;
  if (!present || !present.hasRank() || present.getRank() != 4)
    return {};
  auto size = [&](int64_t axis) {
    return present.isDynamicDim(axis) ? Amount()
                                      : Amount(present.getDimSize(axis));
  };
  Amount width = of.number("num_heads") * size(3);
  return scores(of.size(0, 0), of.size(0, 1), size(2), width, width);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Operators that multiply and add.
static const llvm::StringMap<Rule> &products() {
  static const llvm::StringMap<Rule> table = {
      {"MatMul", matmul},
      {"MatMulInteger", matmul},
      {"MatMulIntegerToFloat", matmul},
      {"DynamicQuantizeMatMul", matmul},
      {"FusedMatMul", matmul},
      {"FusedMatMulActivation", matmul},
      {"TransposeMatMul", matmul},
      {"QLinearMatMul", matmul},
      {"GemmFastGelu", matmul},
      {"Gemm", gemm},
      {"FusedGemm", gemm},
      {"QGemm", gemm},
      {"MatMulNBits", packed},
      {"MatMulBnb4", packed},
      {"Conv", conv},
      {"ConvInteger", conv},
      {"FusedConv", conv},
      {"NhwcFusedConv", conv},
      {"QLinearConv", qlinearConv},
      {"ConvTranspose", convTranspose},
      {"RNN", recurrent<1>},
      {"GRU", recurrent<3>},
      {"LSTM", recurrent<4>},
      {"Einsum", einsum},
      {"Attention", anyAttention},
      {"MultiHeadAttention", multiHeadAttention},
      {"GroupQueryAttention", groupQueryAttention},
      {"QAttention", packedAttention},
  };
  return table;
}

static bool isOfONNX(StringRef domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "ai.onnx.ml";
}

static bool isOfONNXRuntime(StringRef domain) {
  return domain == "com.microsoft" || domain == "com.ms.internal.nhwc";
}

/// Whether an operator of ONNX Runtime only maps, normalizes, moves or
/// quantizes elements.
static bool multipliesNothing(StringRef type) {
  static const llvm::StringSet<> table = {"BiasAdd",
                                          "BiasGelu",
                                          "BiasSoftmax",
                                          "BiasSplitGelu",
                                          "FastGelu",
                                          "Gelu",
                                          "QuickGelu",
                                          "EmbedLayerNormalization",
                                          "LayerNormalization",
                                          "SkipLayerNormalization",
                                          "SkipSimplifiedLayerNormalization",
                                          "SimplifiedLayerNormalization",
                                          "GroupNorm",
                                          "SkipGroupNorm",
                                          "RotaryEmbedding",
                                          "GatherBlockQuantized",
                                          "GatherND",
                                          "QuantizeLinear",
                                          "DequantizeLinear",
                                          "DynamicQuantizeLinear",
                                          "QLinearAdd",
                                          "QLinearMul",
                                          "QLinearSigmoid",
                                          "QLinearSoftmax",
                                          "QLinearLeakyRelu",
                                          "QLinearAveragePool",
                                          "QLinearGlobalAveragePool",
                                          "QLinearConcat",
                                          "QLinearWhere",
                                          "QLinearReduceMean",
                                          "QEmbedLayerNormalization",
                                          "ReorderInput",
                                          "ReorderOutput",
                                          "NhwcMaxPool",
                                          "MaxPool",
                                          "AveragePool",
                                          "GlobalAveragePool",
                                          "Trilu",
                                          "Pad",
                                          "Unique",
                                          "ExpandDims",
                                          "RemovePadding",
                                          "RestorePadding",
                                          "MulInteger",
                                          "ReduceSumInteger",
                                          "Range",
                                          "CropAndResize",
                                          "Upsample"};
  return table.contains(type);
}

std::optional<int64_t> htp::multiplyAdds(const Operator &op) {
  bool ours = isOfONNX(op.domain);
  if (!ours && !isOfONNXRuntime(op.domain))
    return std::nullopt;
  auto rule = products().find(op.type);
  if (rule != products().end())
    return rule->second(Operands(op)).known();
  if (ours || multipliesNothing(op.type))
    return 0;
  return std::nullopt;
}
