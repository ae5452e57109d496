// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads weights as floats, however they are stored: as narrow floats, or
// quantized with scales and zero points per tensor, channel or block, perhaps
// with several elements per byte. Rows are decoded on demand, without a copy of
// the whole tensor.

#ifndef HTP_WEIGHTS_WEIGHTREADER_H
#define HTP_WEIGHTS_WEIGHTREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace htp {

/// Element types of stored weights, by ONNX's names in lower case: "float16",
/// "float8e4m3fn", "uint4", "int8".
enum class StoredType : uint8_t {
  Float64,
  Float32,
  Float16,
  BFloat16,
  Float8E4M3FN,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Int32,
  Int16,
  Int8,
  Int4,
  UInt16,
  UInt8,
  UInt4,
};

/// The size of an element. Types of less than 8 bits are packed, with the first
/// element in the lowest bits.
unsigned bitsOf(StoredType type);

/// The contents of a tensor as stored in a file.
struct StoredTensor {
  llvm::ArrayRef<char> bytes;
  StoredType type = StoredType::Float32;
  llvm::SmallVector<int64_t, 4> shape;

  int64_t elements() const;
  /// Whether the number of bytes is what the shape needs.
  bool isWhole() const;
  /// Reads elements from `begin` on, which must be in range.
  void read(int64_t begin, llvm::MutableArrayRef<float> values) const;
};

/// A matrix that can be read row by row.
class WeightReader {
public:
  virtual ~WeightReader() = default;
  virtual void read(int64_t row, llvm::MutableArrayRef<float> values) const = 0;

  /// The tensor's shape, and the matrix that a sketch sees in it.
  llvm::ArrayRef<int64_t> shape() const { return sizes; }

  /// A tensor that is not quantized. Null if it is not whole.
  static std::unique_ptr<WeightReader> plain(StoredTensor tensor);

  /// A tensor quantized as for DequantizeLinear: `scales` has one element, one
  /// for each index of `axis`, or, with a `block`, one for each block along it.
  /// `zeroPoints` may be missing or has the same shape. Null if shapes do not
  /// agree; `why` then says what was found and expected.
  static std::unique_ptr<WeightReader>
  dequantized(StoredTensor tensor, StoredTensor scales,
              std::optional<StoredTensor> zeroPoints, int64_t axis,
              int64_t block, std::string *why = nullptr);

  /// A tensor packed as for MatMulNBits: `rows` by `columns`, each row in
  /// blocks of `block` elements of `bits` bits, each block padded to whole
  /// bytes.
  struct Packing {
    int64_t rows = 0, columns = 0, bits = 4, block = 32;
  };
  static std::unique_ptr<WeightReader>
  packed(Packing packing, StoredTensor data, StoredTensor scales,
         std::optional<StoredTensor> zeroPoints, std::string *why = nullptr);

protected:
  explicit WeightReader(llvm::ArrayRef<int64_t> shape)
      : sizes(shape.begin(), shape.end()) {}
  llvm::SmallVector<int64_t, 4> sizes;
};

} // namespace htp

#endif // HTP_WEIGHTS_WEIGHTREADER_H
