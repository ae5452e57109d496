// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading stored weights as floats.

#include "HTP/Weights/WeightReader.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace htp;

namespace {

using Floats = std::vector<float>;

template <typename T> struct Stored {
  std::vector<T> values;
  StoredType type;
  llvm::SmallVector<int64_t, 4> shape;

  operator StoredTensor() const {
    StoredTensor tensor;
    tensor.bytes = {reinterpret_cast<const char *>(values.data()),
                    values.size() * sizeof(T)};
    tensor.type = type;
    tensor.shape = shape;
    return tensor;
  }
};

Floats row(const std::unique_ptr<WeightReader> &reader, int64_t number,
           size_t columns) {
  Floats values(columns);
  if (reader)
    reader->read(number, values);
  return values;
}

} // namespace

TEST(WeightReader, ReadsNarrowFloats) {
  Stored<uint16_t> half{
      {0x3C00, 0xC000, 0x0001, 0x8000}, StoredType::Float16, {2, 2}};
  EXPECT_EQ(row(WeightReader::plain(half), 0, 2), (Floats{1, -2}));
  EXPECT_EQ(row(WeightReader::plain(half), 1, 2), (Floats{0x1p-24f, -0.0f}));
  Stored<uint16_t> brain{{0x3F80, 0xC000}, StoredType::BFloat16, {2}};
  EXPECT_EQ(row(WeightReader::plain(brain), 0, 2), (Floats{1, -2}));
  Stored<uint8_t> eight{{0x38, 0xC0, 0x7F}, StoredType::Float8E4M3FN, {3}};
  Floats values = row(WeightReader::plain(eight), 0, 3);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_TRUE(std::isnan(values[2]));
  Stored<uint8_t> wide{{0x3C, 0xC0}, StoredType::Float8E5M2, {2}};
  EXPECT_EQ(row(WeightReader::plain(wide), 0, 2), (Floats{1, -2}));
}

TEST(WeightReader, ReadsHalvesOfBytes) {
  Stored<uint8_t> low{{0x21, 0xF3}, StoredType::Int4, {4}};
  EXPECT_EQ(row(WeightReader::plain(low), 0, 4), (Floats{1, 2, 3, -1}));
  low.type = StoredType::UInt4;
  EXPECT_EQ(row(WeightReader::plain(low), 0, 4), (Floats{1, 2, 3, 15}));
}

TEST(WeightReader, TooFewBytesAreNoTensor) {
  Stored<float> floats{{1, 2, 3}, StoredType::Float32, {2, 2}};
  EXPECT_FALSE(WeightReader::plain(floats));
  floats.shape = {INT64_MAX, 2};
  EXPECT_FALSE(WeightReader::plain(floats));
}

TEST(WeightReader, Dequantizes) {
  Stored<int8_t> data{{1, 2, 3, 4, 5, 6}, StoredType::Int8, {2, 3}};
  Stored<float> one{{0.5f}, StoredType::Float32, {}},
      rows{{1, 10}, StoredType::Float32, {2}},
      columns{{1, 10, 100}, StoredType::Float32, {3}};
  Stored<int8_t> zero{{1}, StoredType::Int8, {}},
      zeros{{1, 2, 3}, StoredType::Int8, {3}};
  auto read = [&](auto scales, auto zeroPoints, int64_t axis, int64_t block) {
    return WeightReader::dequantized(data, scales, zeroPoints, axis, block);
  };
  EXPECT_EQ(row(read(one, zero, 1, 0), 1, 3), (Floats{1.5f, 2, 2.5f}));
  EXPECT_EQ(row(read(rows, std::nullopt, 0, 0), 1, 3), (Floats{40, 50, 60}));
  EXPECT_EQ(row(read(columns, zeros, -1, 0), 1, 3), (Floats{3, 30, 300}));
  // Blocks of two along each axis.
  Stored<float> blocks{{1, 10, 100, 1000}, StoredType::Float32, {2, 2}};
  EXPECT_EQ(row(read(blocks, std::nullopt, 1, 2), 0, 3), (Floats{1, 2, 30}));
  EXPECT_EQ(row(read(blocks, std::nullopt, 1, 2), 1, 3),
            (Floats{400, 500, 6000}));
  Stored<float> across{{1, 10, 100}, StoredType::Float32, {1, 3}};
  EXPECT_EQ(row(read(across, std::nullopt, 0, 2), 1, 3), (Floats{4, 50, 600}));
}

TEST(WeightReader, ScalesOfTheWrongShapeAreAnError) {
  Stored<int8_t> data{{1, 2, 3, 4, 5, 6}, StoredType::Int8, {2, 3}};
  Stored<float> two{{1, 2}, StoredType::Float32, {2}},
      one{{1}, StoredType::Float32, {}}, fewer{{1}, StoredType::Float32, {3}};
  EXPECT_TRUE(WeightReader::dequantized(data, two, std::nullopt, 0, 0));
  EXPECT_FALSE(WeightReader::dequantized(data, two, std::nullopt, 1, 0));
  EXPECT_FALSE(WeightReader::dequantized(data, two, std::nullopt, 2, 0));
  EXPECT_FALSE(WeightReader::dequantized(data, two, std::nullopt, -3, 0));
  EXPECT_FALSE(WeightReader::dequantized(data, two, std::nullopt, 0, -1));
  EXPECT_FALSE(WeightReader::dequantized(data, fewer, std::nullopt, 1, 0));
  EXPECT_FALSE(WeightReader::dequantized(data, two, one, 0, 0));
  // As many blocks, but in another arrangement: not valid scales.
  Stored<float> turned{{1, 2, 3}, StoredType::Float32, {3, 1}};
  EXPECT_FALSE(WeightReader::dequantized(data, turned, std::nullopt, 0, 2));
  Stored<float> across{{1, 2, 3}, StoredType::Float32, {1, 3}};
  EXPECT_TRUE(WeightReader::dequantized(data, across, std::nullopt, 0, 2));
}

TEST(WeightReader, SaysWhatIsWrong) {
  Stored<int8_t> data{{1, 2, 3, 4, 5, 6}, StoredType::Int8, {2, 3}};
  Stored<float> two{{1, 2}, StoredType::Float32, {2}},
      turned{{1, 2, 3}, StoredType::Float32, {3, 1}};
  std::string why;
  EXPECT_TRUE(WeightReader::dequantized(data, two, std::nullopt, 0, 0, &why));
  EXPECT_EQ(why, "");
  EXPECT_FALSE(WeightReader::dequantized(data, two, std::nullopt, 1, 0, &why));
  EXPECT_EQ(why, "2 scales, expected 1 or 3");
  EXPECT_FALSE(
      WeightReader::dequantized(data, turned, std::nullopt, 0, 2, &why));
  EXPECT_EQ(why, "scales of shape 3 x 1, expected 1 x 3");
  WeightReader::Packing packing;
  packing.rows = packing.columns = 4;
  packing.block = 2;
  EXPECT_FALSE(WeightReader::packed(packing, data, two, std::nullopt, &why));
  EXPECT_EQ(why, "6 bytes of packed weights, expected 8");
}

TEST(WeightReader, ReadsPackedWeights) {
  // Two rows of three elements, in blocks of two: one byte a block.
  Stored<uint8_t> data{{0x21, 0x03, 0x54, 0x06}, StoredType::UInt8, {2, 2, 1}};
  Stored<float> scales{{1, 10, 100, 1000}, StoredType::Float32, {4}};
  WeightReader::Packing packing;
  packing.rows = 2;
  packing.columns = 3;
  packing.block = 2;
  auto plain = WeightReader::packed(packing, data, scales, std::nullopt);
  EXPECT_EQ(row(plain, 0, 3), (Floats{-7, -6, -50}));
  EXPECT_EQ(row(plain, 1, 3), (Floats{-400, -300, -2000}));
  Stored<uint8_t> zeros{{0x21, 0x43}, StoredType::UInt8, {2}};
  auto shifted =
      WeightReader::packed(packing, data, scales, StoredTensor(zeros));
  EXPECT_EQ(row(shifted, 0, 3), (Floats{0, 1, 10}));
  EXPECT_EQ(row(shifted, 1, 3), (Floats{100, 200, 2000}));

  auto isBroken = [&](auto change) {
    WeightReader::Packing other = packing;
    change(other);
    return !WeightReader::packed(other, data, scales, std::nullopt);
  };
  EXPECT_TRUE(isBroken([](auto &p) { p.rows = 3; }));
  EXPECT_TRUE(isBroken([](auto &p) { p.columns = 5; }));
  EXPECT_TRUE(isBroken([](auto &p) { p.columns = INT64_MAX; }));
  EXPECT_TRUE(isBroken([](auto &p) { p.block = 0; }));
  EXPECT_TRUE(isBroken([](auto &p) { p.bits = 9; }));
  EXPECT_TRUE(isBroken([](auto &p) { p.bits = 8; }));
  Stored<uint8_t> few{{0x21, 0x03}, StoredType::UInt8, {2}};
  EXPECT_FALSE(WeightReader::packed(packing, few, scales, std::nullopt));
  Stored<float> fewScales{{1, 2}, StoredType::Float32, {2}};
  EXPECT_FALSE(WeightReader::packed(packing, data, fewScales, std::nullopt));
  EXPECT_FALSE(WeightReader::packed(packing, data, scales, StoredTensor(few)) ==
               nullptr);
  zeros.values.pop_back();
  zeros.shape = {1};
  EXPECT_FALSE(
      WeightReader::packed(packing, data, scales, StoredTensor(zeros)));
}

TEST(WeightReader, ReadsEveryTypeOfWholeBytes) {
  Stored<double> wide{{0.25, -1e300}, StoredType::Float64, {2}};
  Floats values = row(WeightReader::plain(wide), 0, 2);
  EXPECT_EQ(values[0], 0.25f);
  EXPECT_TRUE(std::isinf(values[1])); // more than a float holds
  Stored<int32_t> ints{{-3, 1 << 20}, StoredType::Int32, {2}};
  EXPECT_EQ(row(WeightReader::plain(ints), 0, 2), (Floats{-3, 1 << 20}));
  Stored<uint16_t> shorts{{0xFFFF, 1}, StoredType::UInt16, {2}};
  EXPECT_EQ(row(WeightReader::plain(shorts), 0, 2), (Floats{65535, 1}));
  shorts.type = StoredType::Int16;
  EXPECT_EQ(row(WeightReader::plain(shorts), 0, 2), (Floats{-1, 1}));
  Stored<uint8_t> bytes{{0xFF, 1}, StoredType::UInt8, {2}};
  EXPECT_EQ(row(WeightReader::plain(bytes), 0, 2), (Floats{255, 1}));
  bytes.type = StoredType::Int8;
  EXPECT_EQ(row(WeightReader::plain(bytes), 0, 2), (Floats{-1, 1}));
  Stored<uint16_t> infinite{{0x7C00, 0xFC00}, StoredType::Float16, {2}};
  EXPECT_EQ(row(WeightReader::plain(infinite), 0, 2),
            (Floats{INFINITY, -INFINITY}));
}

/// The types without a negative zero have it as their only NaN, and an exponent
/// bias that is larger by one: the same bits are half as much.
TEST(WeightReader, ReadsNarrowFloatsWithoutANegativeZero) {
  Stored<uint8_t> eight{{0x40, 0x80}, StoredType::Float8E4M3FNUZ, {2}};
  Floats values = row(WeightReader::plain(eight), 0, 2);
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
  eight.type = StoredType::Float8E4M3FN;
  values = row(WeightReader::plain(eight), 0, 2);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 0);
  eight.type = StoredType::Float8E5M2FNUZ;
  values = row(WeightReader::plain(eight), 0, 2);
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
}

/// A row of three elements of four bits begins in the middle of a byte.
TEST(WeightReader, RowsThatBeginInTheMiddleOfAByte) {
  Stored<uint8_t> data{{0x21, 0x43, 0x65}, StoredType::UInt4, {2, 3}};
  EXPECT_EQ(row(WeightReader::plain(data), 0, 3), (Floats{1, 2, 3}));
  EXPECT_EQ(row(WeightReader::plain(data), 1, 3), (Floats{4, 5, 6}));
  // Of an odd number of elements the last byte is half empty, but there.
  data.shape = {5};
  EXPECT_TRUE(WeightReader::plain(data));
  data.shape = {7};
  EXPECT_FALSE(WeightReader::plain(data));
}

/// Scales along the middle one of three axes: a row holds several of them.
TEST(WeightReader, DequantizesAlongAMiddleAxis) {
  Stored<int8_t> data{
      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, StoredType::Int8, {2, 3, 2}};
  Stored<float> three{{1, 10, 100}, StoredType::Float32, {3}};
  auto each = WeightReader::dequantized(data, three, std::nullopt, 1, 0);
  EXPECT_EQ(row(each, 0, 6), (Floats{1, 2, 30, 40, 500, 600}));
  EXPECT_EQ(row(each, 1, 6), (Floats{7, 8, 90, 100, 1100, 1200}));
  // Blocks of two along it, of which the last one is cut off: each column of
  // each block has its own.
  Stored<float> blocks{
      {1, 10, 100, 1000, 2, 20, 200, 2000}, StoredType::Float32, {2, 2, 2}};
  auto blocked = WeightReader::dequantized(data, blocks, std::nullopt, 1, 2);
  EXPECT_EQ(row(blocked, 0, 6), (Floats{1, 20, 3, 40, 500, 6000}));
  EXPECT_EQ(row(blocked, 1, 6), (Floats{14, 160, 18, 200, 2200, 24000}));
}

/// Weights of three bits: an element may lie in two bytes.
TEST(WeightReader, ReadsPackedWeightsAcrossBytes) {
  // 0 to 7, three bits each, the lowest first.
  Stored<uint8_t> data{{0x88, 0xC6, 0xFA}, StoredType::UInt8, {1, 1, 3}};
  Stored<float> scale{{2}, StoredType::Float32, {1}};
  WeightReader::Packing packing;
  packing.rows = 1;
  packing.columns = 8;
  packing.block = 8;
  packing.bits = 3;
  // Without zero points zero is in the middle: 4.
  EXPECT_EQ(row(WeightReader::packed(packing, data, scale, std::nullopt), 0, 8),
            (Floats{-8, -6, -4, -2, 0, 2, 4, 6}));
  // Zero points may also be floats, one for each block.
  Stored<float> zero{{0.5f}, StoredType::Float32, {1}};
  EXPECT_EQ(
      row(WeightReader::packed(packing, data, scale, StoredTensor(zero)), 0, 8),
      (Floats{-1, 1, 3, 5, 7, 9, 11, 13}));
  std::string why;
  Stored<float> two{{1, 2}, StoredType::Float32, {2}};
  EXPECT_FALSE(
      WeightReader::packed(packing, data, scale, StoredTensor(two), &why));
  EXPECT_EQ(why, "zero points of shape 2, expected them for 1 blocks");
}
