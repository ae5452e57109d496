// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as floats, however they are stored: in narrow floats, or quantized
// with scales and zero points, one for the tensor, for each channel or for each
// block, several elements in a byte. They are decoded row by row: no copy of a
// tensor is made.

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

/// The size of an element; of less than 8 bits where bytes hold several, the
/// first in the lowest bits.
unsigned bitsOf(StoredType type);

/// Contents as they lie in a file.
struct StoredTensor {
  llvm::ArrayRef<char> bytes;
  StoredType type = StoredType::Float32;
  llvm::SmallVector<int64_t, 4> shape;

  int64_t elements() const;
  /// Whether there are as many bytes as the shape needs.
  bool isWhole() const;
  /// Elements from `begin` on; all must exist.
  void read(int64_t begin, llvm::MutableArrayRef<float> values) const;
};

/// A matrix that can be read row by row.
class WeightReader {
public:
  virtual ~WeightReader() = default;
  virtual void read(int64_t row, llvm::MutableArrayRef<float> values) const = 0;

  /// The tensor's shape, and the matrix that a sketch sees in it.
  llvm::ArrayRef<int64_t> shape() const { return sizes; }

  /// A tensor that is stored as it is. Nothing where it is not whole.
  static std::unique_ptr<WeightReader> plain(StoredTensor tensor);

  /// As DequantizeLinear reads it: `scales` has one element, one for each
  /// index of `axis`, or, with a `block`, one for each block along it; so has
  /// `zeroPoints`, which may be missing. Nothing where shapes do not agree:
  /// then `why` says what was found and expected.
  static std::unique_ptr<WeightReader>
  dequantized(StoredTensor tensor, StoredTensor scales,
              std::optional<StoredTensor> zeroPoints, int64_t axis,
              int64_t block, std::string *why = nullptr);

  /// As MatMulNBits reads it: `rows` by `columns`, a row in blocks of `block`
  /// elements of `bits`, each block in whole bytes.
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
