// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes of tensor contents: of the bytes, and of the values in any order.

#include "HTP/Weights/Fingerprint.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace htp;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
/// Distinct types for the 16-bit floats, which C++17 lacks.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
} // namespace

/// The bits that `mixElement` takes: of the element as float32 or int32.
static uint32_t canonicalBits(float value) {
  return llvm::bit_cast<uint32_t>(value);
}
static uint32_t canonicalBits(double value) {
  return canonicalBits(static_cast<float>(value));
}
static uint32_t canonicalBits(BFloat value) {
  return static_cast<uint32_t>(value.bits) << 16;
}
static uint32_t canonicalBits(Half value) {
  uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  uint32_t exponent = (value.bits >> 10) & 0x1F;
  uint32_t mantissa = value.bits & 0x3FF;
  if (exponent == 0x1F) // infinity and NaN
    return sign | 0x7F800000 | (mantissa << 13);
  if (exponent != 0)
    return sign | ((exponent + 112) << 23) | (mantissa << 13);
  // Zero and subnormals, which are normal numbers in float32.
  return sign | canonicalBits(static_cast<float>(mantissa) * 0x1p-24f);
}
template <typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
static uint32_t canonicalBits(Int value) {
  return static_cast<uint32_t>(value);
}

template <typename T> static uint64_t sumOfMixes(ArrayRef<char> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0, e = bytes.size() / sizeof(T); i != e; ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    sum += mixElement(canonicalBits(element));
  }
  return sum;
}

std::optional<ElementType> htp::elementTypeFromName(StringRef name) {
  return llvm::StringSwitch<std::optional<ElementType>>(name)
      .Case("bool", ElementType::Bool)
      .Case("int8", ElementType::Int8)
      .Case("int16", ElementType::Int16)
      .Case("int32", ElementType::Int32)
      .Case("int64", ElementType::Int64)
      .Case("uint8", ElementType::UInt8)
      .Case("uint16", ElementType::UInt16)
      .Case("uint32", ElementType::UInt32)
      .Case("uint64", ElementType::UInt64)
      .Case("float16", ElementType::Float16)
      .Case("bfloat16", ElementType::BFloat16)
      .Case("float32", ElementType::Float32)
      .Case("float64", ElementType::Float64)
      .Default(std::nullopt);
}

size_t htp::elementSize(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::Int8:
  case ElementType::UInt8:
    return 1;
  case ElementType::Int16:
  case ElementType::UInt16:
  case ElementType::Float16:
  case ElementType::BFloat16:
    return 2;
  case ElementType::Int32:
  case ElementType::UInt32:
  case ElementType::Float32:
    return 4;
  case ElementType::Int64:
  case ElementType::UInt64:
  case ElementType::Float64:
    return 8;
  }
  llvm_unreachable("unknown element type");
}

uint64_t htp::hashBytes(ArrayRef<char> bytes) {
  return llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

uint64_t htp::hashValues(ArrayRef<char> bytes, ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::UInt8:
    return sumOfMixes<uint8_t>(bytes);
  case ElementType::Int8:
    return sumOfMixes<int8_t>(bytes);
  case ElementType::Int16:
    return sumOfMixes<int16_t>(bytes);
  case ElementType::UInt16:
    return sumOfMixes<uint16_t>(bytes);
  case ElementType::Int32:
  case ElementType::UInt32:
    return sumOfMixes<uint32_t>(bytes);
  case ElementType::Int64:
  case ElementType::UInt64:
    return sumOfMixes<uint64_t>(bytes);
  case ElementType::Float16:
    return sumOfMixes<Half>(bytes);
  case ElementType::BFloat16:
    return sumOfMixes<BFloat>(bytes);
  case ElementType::Float32:
    return sumOfMixes<float>(bytes);
  case ElementType::Float64:
    return sumOfMixes<double>(bytes);
  }
  llvm_unreachable("unknown element type");
}
