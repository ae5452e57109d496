// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fingerprints of a tensor's contents, shared by htp-trace (which sees the
// parameters) and htp-opt (which sees the initializers). There are two: one of
// the bytes as stored, one of the values in any order, which survives a
// transpose or a reshape. Together with the shape they tell whether an
// initializer is a parameter of the model.

#ifndef HTP_WEIGHTS_FINGERPRINT_H
#define HTP_WEIGHTS_FINGERPRINT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace htp {

/// The element types for which hashValues is defined.
enum class ElementType {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

/// The type that torch calls `name` ("float32", "int64", "bool").
std::optional<ElementType> elementTypeFromName(llvm::StringRef name);

/// The size of one element in bytes.
size_t elementSize(ElementType type);

/// Mixes the bits of one element (splitmix64).
inline uint64_t mixElement(uint32_t bits) {
  uint64_t x = bits + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// The fingerprint of the bytes of a row-major tensor (XXH3, 64 bits).
uint64_t hashBytes(llvm::ArrayRef<char> bytes);

/// The fingerprint of a tensor's values in any order: the sum of `mixElement`
/// over the elements, each converted to float32 (floating point) or int32
/// (integers, booleans; wide ones are truncated). So equal values of different
/// widths have the same fingerprint if the conversion is exact. `bytes` holds
/// whole elements in the host's byte order, at any alignment.
uint64_t hashValues(llvm::ArrayRef<char> bytes, ElementType type);

} // namespace htp

#endif // HTP_WEIGHTS_FINGERPRINT_H
