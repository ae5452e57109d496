// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes stored weights: see WeightReader.h.

#include "HTP/Weights/WeightReader.h"

#include "HTP/Weights/Sketch.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace htp;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

unsigned htp::bitsOf(StoredType type) {
  switch (type) {
  case StoredType::Float64:
    return 64;
  case StoredType::Float32:
  case StoredType::Int32:
    return 32;
  case StoredType::Float16:
  case StoredType::BFloat16:
  case StoredType::Int16:
  case StoredType::UInt16:
    return 16;
  case StoredType::Float8E4M3FN:
  case StoredType::Float8E4M3FNUZ:
  case StoredType::Float8E5M2:
  case StoredType::Float8E5M2FNUZ:
  case StoredType::Int8:
  case StoredType::UInt8:
    return 8;
  case StoredType::Int4:
  case StoredType::UInt4:
    return 4;
  }
  llvm_unreachable("unknown element type");
}

static float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0) { // zero and subnormals
    float value = float(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  exponent = exponent == 0x1F ? 0xFF : exponent + 112;
  return llvm::bit_cast<float>(sign | exponent << 23 | mantissa << 13);
}

static float fromBFloat(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

/// All values of an eight-bit float.
static std::array<float, 256> tableOf(const llvm::fltSemantics &semantics) {
  std::array<float, 256> table;
  for (unsigned bits = 0; bits < 256; ++bits) {
    llvm::APFloat value(semantics, llvm::APInt(8, bits));
    bool lost;
    value.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    table[bits] = value.convertToFloat();
  }
  return table;
}

static const std::array<float, 256> &eightBitFloats(StoredType type) {
  static const std::array<float, 256>
      e4m3 = tableOf(llvm::APFloat::Float8E4M3FN()),
      e4m3fnuz = tableOf(llvm::APFloat::Float8E4M3FNUZ()),
      e5m2 = tableOf(llvm::APFloat::Float8E5M2()),
      e5m2fnuz = tableOf(llvm::APFloat::Float8E5M2FNUZ());
  switch (type) {
  case StoredType::Float8E4M3FN:
    return e4m3;
  case StoredType::Float8E4M3FNUZ:
    return e4m3fnuz;
  case StoredType::Float8E5M2:
    return e5m2;
  default:
    return e5m2fnuz;
  }
}

template <typename T, typename Convert>
static void convertAll(const char *bytes, MutableArrayRef<float> values,
                       Convert convert) {
  for (float &value : values) {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    bytes += sizeof(T);
    value = convert(element);
  }
}

template <typename T>
static void castAll(const char *bytes, MutableArrayRef<float> values) {
  convertAll<T>(bytes, values, [](T element) { return float(element); });
}

/// Extracts `bits` bits starting at bit `begin`, in little-endian order.
static unsigned bitsAt(const char *bytes, int64_t begin, unsigned bits) {
  unsigned value = 0;
  for (unsigned have = 0; have < bits;) {
    int64_t at = begin + have;
    unsigned offset = at % 8, take = std::min(8 - offset, bits - have);
    unsigned part = uint8_t(bytes[at / 8]) >> offset & ((1u << take) - 1);
    value |= part << have;
    have += take;
  }
  return value;
}

int64_t StoredTensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  return count;
}

bool StoredTensor::isWhole() const {
  int64_t count = elements(), bits;
  return count >= 0 &&
         !__builtin_mul_overflow(count, int64_t(bitsOf(type)), &bits) &&
         bytes.size() >= size_t(bits / 8 + (bits % 8 != 0));
}

void StoredTensor::read(int64_t begin, MutableArrayRef<float> values) const {
  assert(isWhole() && begin >= 0 &&
         begin + int64_t(values.size()) <= elements() &&
         "the elements must exist");
  const char *from = bytes.data() + begin * bitsOf(type) / 8;
  switch (type) {
  case StoredType::Float64:
    return castAll<double>(from, values);
  case StoredType::Float32:
    std::memcpy(values.data(), from, values.size() * sizeof(float));
    return;
  case StoredType::Float16:
    return convertAll<uint16_t>(from, values, fromHalf);
  case StoredType::BFloat16:
    return convertAll<uint16_t>(from, values, fromBFloat);
  case StoredType::Float8E4M3FN:
  case StoredType::Float8E4M3FNUZ:
  case StoredType::Float8E5M2:
  case StoredType::Float8E5M2FNUZ: {
    const std::array<float, 256> &table = eightBitFloats(type);
    return convertAll<uint8_t>(from, values,
                               [&](uint8_t bits) { return table[bits]; });
  }
  case StoredType::Int32:
    return castAll<int32_t>(from, values);
  case StoredType::Int16:
    return castAll<int16_t>(from, values);
  case StoredType::Int8:
    return castAll<int8_t>(from, values);
  case StoredType::UInt16:
    return castAll<uint16_t>(from, values);
  case StoredType::UInt8:
    return castAll<uint8_t>(from, values);
  case StoredType::Int4:
  case StoredType::UInt4:
    for (size_t i = 0; i < values.size(); ++i) {
      int value = bitsAt(bytes.data(), (begin + i) * 4, 4);
      values[i] = type == StoredType::Int4 && value > 7 ? value - 16 : value;
    }
    return;
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static std::vector<float> allOf(const StoredTensor &tensor) {
  std::vector<float> values(tensor.elements());
  tensor.read(0, values);
  return values;
}

namespace {

class PlainReader : public WeightReader {
public:
  explicit PlainReader(StoredTensor tensor)
      : WeightReader(tensor.shape), tensor(std::move(tensor)) {}

  void read(int64_t row, MutableArrayRef<float> values) const override {
    tensor.read(row * values.size(), values);
  }

private:
  StoredTensor tensor;
};

/// Reads a quantized tensor, viewed as (outer, axis, inner).
class DequantizedReader : public WeightReader {
public:
  DequantizedReader(StoredTensor stored, std::vector<float> scales,
                    std::vector<float> zeroPoints, int64_t axis, int64_t block)
      : WeightReader(stored.shape), tensor(std::move(stored)),
        scales(std::move(scales)), zeros(std::move(zeroPoints)), block(block),
        along(sizes.empty() ? 1 : sizes[axis]) {
    for (size_t i = axis + 1; i < sizes.size(); ++i)
      inner *= sizes[i];
  }

  void read(int64_t row, MutableArrayRef<float> values) const override {
    int64_t begin = row * values.size();
    tensor.read(begin, values);
    if (scales.size() == 1)
      return scale(values, 0);
    // Decode runs of elements with the same scale.
    for (size_t at = 0; at < values.size();) {
      int64_t element = begin + at, in = element % inner,
              index = element / inner % along;
      int64_t run = 1, which = index;
      if (block) {
        int64_t outer = element / inner / along, blocks = blocksOf(along);
        which = (outer * blocks + index / block) * inner + in;
        if (inner == 1)
          run = std::min(block - index % block, along - index);
      } else {
        run = inner - in;
      }
      run = std::min<int64_t>(run, values.size() - at);
      scale(values.slice(at, run), which);
      at += run;
    }
  }

  int64_t blocksOf(int64_t size) const { return (size + block - 1) / block; }

private:
  void scale(MutableArrayRef<float> values, int64_t which) const {
    assert(which >= 0 && which < int64_t(scales.size()) && "no such scale");
    float factor = scales[which],
          zero = zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : which];
    for (float &value : values)
      value = (value - zero) * factor;
  }

  StoredTensor tensor;
  std::vector<float> scales, zeros;
  int64_t block, along, inner = 1;
};

class PackedReader : public WeightReader {
public:
  PackedReader(Packing packing, StoredTensor data, std::vector<float> scales,
               std::vector<float> zeros)
      : WeightReader({packing.rows, packing.columns}), packing(packing),
        data(std::move(data)), scales(std::move(scales)),
        zeros(std::move(zeros)) {}

  void read(int64_t row, MutableArrayRef<float> values) const override {
    assert(row >= 0 && row < packing.rows &&
           int64_t(values.size()) == packing.columns && "no such row");
    int64_t blocks = scales.size() / packing.rows,
            bytes = packing.block * packing.bits / 8;
    const char *from = data.bytes.data() + row * blocks * bytes;
    for (int64_t column = 0; column < packing.columns; ++column) {
      int64_t block = column / packing.block, at = column % packing.block;
      int64_t which = row * blocks + block;
      values[column] = (float(bitsAt(from + block * bytes, at * packing.bits,
                                     packing.bits)) -
                        zeros[which]) *
                       scales[which];
    }
  }

private:
  Packing packing;
  StoredTensor data;
  std::vector<float> scales, zeros;
};

} // namespace

std::unique_ptr<WeightReader> WeightReader::plain(StoredTensor tensor) {
  if (!tensor.isWhole())
    return nullptr;
  return std::make_unique<PlainReader>(std::move(tensor));
}

/// Returns no reader and stores the reason.
template <typename... Parts>
static std::nullptr_t refuse(std::string *why, const char *format,
                             Parts &&...parts) {
  if (why)
    *why = llvm::formatv(format, std::forward<Parts>(parts)...).str();
  return nullptr;
}

static std::string textOf(ArrayRef<int64_t> shape) {
  return llvm::formatv("{0:$[ x ]}", llvm::iterator_range(shape)).str();
}

/// The shape of scales with one element for each block along an axis.
static llvm::SmallVector<int64_t, 4>
shapeOfBlocks(ArrayRef<int64_t> shape, int64_t axis, int64_t block) {
  llvm::SmallVector<int64_t, 4> blocks(shape);
  blocks[axis] = blocks[axis] / block + (blocks[axis] % block != 0);
  return blocks;
}

std::unique_ptr<WeightReader>
WeightReader::dequantized(StoredTensor tensor, StoredTensor scales,
                          std::optional<StoredTensor> zeroPoints, int64_t axis,
                          int64_t block, std::string *why) {
  if (!tensor.isWhole() || !scales.isWhole() ||
      (zeroPoints && !zeroPoints->isWhole()))
    return refuse(why, "data, scales or zero points are cut off");
  if (block < 0)
    return refuse(why, "blocks of {0} elements", block);
  int64_t rank = tensor.shape.size(), count = scales.elements();
  if (count == 1) {
    axis = block = 0;
  } else {
    int64_t along = axis < 0 ? axis + rank : axis;
    if (along < 0 || along >= rank)
      return refuse(why, "{0} scales along axis {1} of a tensor of rank {2}",
                    count, axis, rank);
    axis = along;
    if (!block && count != tensor.shape[axis])
      return refuse(why, "{0} scales, expected 1 or {1}", count,
                    tensor.shape[axis]);
    if (block)
      if (auto expected = shapeOfBlocks(tensor.shape, axis, block);
          ArrayRef<int64_t>(expected) != ArrayRef<int64_t>(scales.shape))
        return refuse(why, "scales of shape {0}, expected {1}",
                      textOf(scales.shape), textOf(expected));
  }
  if (zeroPoints && zeroPoints->elements() != count)
    return refuse(why, "{0} zero points, expected one for each of {1} scales",
                  zeroPoints->elements(), count);
  return std::make_unique<DequantizedReader>(
      std::move(tensor), allOf(scales),
      zeroPoints ? allOf(*zeroPoints) : std::vector<float>(), axis, block);
}

/// Zero points are packed like the data, with rows padded to whole bytes, or
/// stored in the type of the scales.
static std::optional<std::vector<float>>
zeroPointsOf(const WeightReader::Packing &packing, int64_t blocks,
             const std::optional<StoredTensor> &stored) {
  std::vector<float> zeros(packing.rows * blocks,
                           float(1u << (packing.bits - 1)));
  if (!stored)
    return zeros;
  if (!stored->isWhole())
    return std::nullopt;
  if (stored->type != StoredType::UInt8) {
    if (stored->elements() != int64_t(zeros.size()))
      return std::nullopt;
    return allOf(*stored);
  }
  int64_t bytes = (blocks * packing.bits + 7) / 8;
  if (stored->elements() != packing.rows * bytes)
    return std::nullopt;
  for (int64_t row = 0; row < packing.rows; ++row)
    for (int64_t block = 0; block < blocks; ++block)
      zeros[row * blocks + block] =
          float(bitsAt(stored->bytes.data() + row * bytes, block * packing.bits,
                       packing.bits));
  return zeros;
}

std::unique_ptr<WeightReader>
WeightReader::packed(Packing packing, StoredTensor data, StoredTensor scales,
                     std::optional<StoredTensor> zeroPoints, std::string *why) {
  // Any size up to this, so that products of two do not overflow.
  constexpr int64_t kMaxSize = int64_t(1) << 40;
  auto isSize = [](int64_t size) { return size > 0 && size <= kMaxSize; };
  if (!isSize(packing.rows) || !isSize(packing.columns))
    return refuse(why, "weights of {0} x {1} elements", packing.rows,
                  packing.columns);
  if (!isSize(packing.block) || packing.bits <= 0 || packing.bits > 8 ||
      packing.block * packing.bits % 8)
    return refuse(why, "blocks of {0} elements of {1} bits", packing.block,
                  packing.bits);
  int64_t blocks = (packing.columns + packing.block - 1) / packing.block, all,
          bytes;
  if (__builtin_mul_overflow(packing.rows, blocks, &all) ||
      __builtin_mul_overflow(all, packing.block * packing.bits / 8, &bytes))
    return refuse(why, "weights of {0} x {1} elements", packing.rows,
                  packing.columns);
  if (data.bytes.size() < size_t(bytes))
    return refuse(why, "{0} bytes of packed weights, expected {1}",
                  data.bytes.size(), bytes);
  if (!scales.isWhole() || scales.elements() != all)
    return refuse(why, "{0} scales, expected {1}", scales.elements(), all);
  std::optional<std::vector<float>> zeros =
      zeroPointsOf(packing, blocks, zeroPoints);
  if (!zeros)
    return refuse(why, "zero points of shape {0}, expected them for {1} blocks",
                  textOf(zeroPoints->shape), all);
  return std::make_unique<PackedReader>(packing, std::move(data), allOf(scales),
                                        std::move(*zeros));
}
