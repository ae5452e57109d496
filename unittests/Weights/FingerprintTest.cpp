// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fingerprints of bytes and of values in any order.

#include "HTP/Weights/Fingerprint.h"

#include "gtest/gtest.h"

#include <limits>

using namespace htp;

template <typename T>
static llvm::ArrayRef<char> bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}
template <typename T>
static uint64_t valuesHash(const std::vector<T> &values, ElementType type) {
  return hashValues(bytesOf(values), type);
}

TEST(Fingerprint, OrderMattersToBytesAndNotToValues) {
  std::vector<float> rows = {1, 2, 3, 4, 5, 6}, columns = {1, 4, 2, 5, 3, 6};
  EXPECT_NE(hashBytes(bytesOf(rows)), hashBytes(bytesOf(columns)));
  EXPECT_EQ(valuesHash(rows, ElementType::Float32),
            valuesHash(columns, ElementType::Float32));
  std::vector<float> other = {1, 2, 3, 4, 5, 7};
  EXPECT_NE(valuesHash(rows, ElementType::Float32),
            valuesHash(other, ElementType::Float32));
}

TEST(Fingerprint, AValueMoreOftenIsAnotherTensor) {
  EXPECT_NE(valuesHash<float>({1, 1, 2}, ElementType::Float32),
            valuesHash<float>({1, 2, 2}, ElementType::Float32));
  EXPECT_NE(valuesHash<float>({0}, ElementType::Float32),
            valuesHash<float>({0, 0}, ElementType::Float32));
}

TEST(Fingerprint, TheSameValuesInAnotherWidth) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> floats = {1.0f, -2.0f, 0.0f, infinity, 0x1p-24f};
  // The same as IEEE half precision: normal, zero, infinite, subnormal.
  std::vector<uint16_t> halves = {0x3C00, 0xC000, 0x0000, 0x7C00, 0x0001};
  EXPECT_EQ(valuesHash(floats, ElementType::Float32),
            valuesHash(halves, ElementType::Float16));
  std::vector<double> doubles(floats.begin(), floats.end());
  EXPECT_EQ(valuesHash(floats, ElementType::Float32),
            valuesHash(doubles, ElementType::Float64));
  std::vector<uint16_t> brains = {0x3F80, 0xC000, 0x0000, 0x7F80, 0x3380};
  EXPECT_EQ(valuesHash(floats, ElementType::Float32),
            valuesHash(brains, ElementType::BFloat16));
  EXPECT_EQ(valuesHash<int64_t>({-1, 5}, ElementType::Int64),
            valuesHash<int8_t>({-1, 5}, ElementType::Int8));
}

TEST(Fingerprint, BytesAtAnyAddress) {
  std::vector<float> values = {1.5f, 2.5f};
  std::vector<char> shifted(1 + sizeof(float) * values.size());
  std::memcpy(shifted.data() + 1, values.data(), shifted.size() - 1);
  EXPECT_EQ(
      valuesHash(values, ElementType::Float32),
      hashValues(llvm::ArrayRef(shifted).drop_front(), ElementType::Float32));
}

TEST(Fingerprint, NamesOfTypes) {
  EXPECT_EQ(elementTypeFromName("bfloat16"), ElementType::BFloat16);
  EXPECT_EQ(elementTypeFromName("complex64"), std::nullopt);
  EXPECT_EQ(elementSize(*elementTypeFromName("bool")), 1u);
  EXPECT_EQ(elementSize(*elementTypeFromName("int64")), 8u);
}

TEST(Fingerprint, IntegersOfAnyWidth) {
  using Type = ElementType;
  const uint64_t expected = valuesHash<int64_t>({-1, 5}, Type::Int64);
  EXPECT_EQ(valuesHash<int16_t>({-1, 5}, Type::Int16), expected);
  EXPECT_EQ(valuesHash<int32_t>({-1, 5}, Type::Int32), expected);
  const uint64_t large = valuesHash<uint64_t>({200, 5}, Type::UInt64);
  EXPECT_EQ(valuesHash<uint8_t>({200, 5}, Type::UInt8), large);
  EXPECT_EQ(valuesHash<uint16_t>({200, 5}, Type::UInt16), large);
  EXPECT_EQ(valuesHash<uint32_t>({200, 5}, Type::UInt32), large);
  // The same bytes mean another number if they have a sign.
  EXPECT_NE(valuesHash<int8_t>({int8_t(200), 5}, Type::Int8), large);
  EXPECT_NE(valuesHash<uint16_t>({0xFFFF, 5}, Type::UInt16), expected);
  EXPECT_EQ(valuesHash<uint8_t>({1, 0}, Type::Bool),
            valuesHash<int64_t>({0, 1}, Type::Int64));
}

/// Every type that PyTorch can store has a size, and those without a name here
/// have no fingerprint.
TEST(Fingerprint, SizesOfTypes) {
  const std::pair<const char *, size_t> sizes[] = {
      {"bool", 1},   {"int8", 1},    {"uint8", 1},    {"int16", 2},
      {"uint16", 2}, {"float16", 2}, {"bfloat16", 2}, {"int32", 4},
      {"uint32", 4}, {"float32", 4}, {"int64", 8},    {"uint64", 8},
      {"float64", 8}};
  for (auto [name, size] : sizes) {
    auto type = elementTypeFromName(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(elementSize(*type), size) << name;
  }
  for (const char *name : {"", "float", "Float32", "complex64", "float8_e5m2"})
    EXPECT_FALSE(elementTypeFromName(name)) << name;
}
