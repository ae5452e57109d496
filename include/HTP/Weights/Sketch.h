// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches (locality-sensitive hashes) of a tensor's contents, which change
// little if the values change little: they identify a parameter even after it
// was rounded, quantized, transposed, scaled row by row, or packed with others.
// A fingerprint (Fingerprint.h) identifies only equal contents.
//
// After dropping sizes of one, a tensor counts as a matrix of `rows` (the first
// size) by `columns` (all others); a vector is one row. With h = columns / 2
// and pseudo-random signs that depend only on the column and a seed, a row's
// bit for a seed is the sign of
//
//   sum over j < h of sign(j, seed) * (row[j] - row[j + h])
//
// - Rounding and quantizing change a row's sum a little: few bits flip.
// - A positive factor per row (batch norm folded into a convolution, the scale
//   of a channel) changes no sign, and a constant added to a row (a zero point,
//   the 1 of a norm that stores its weight without it) cancels.
// - A packed tensor (q, k and v in one) has the rows of its parts, one after
//   the other.
// - Constant rows have no bits: untrained weights are all equal, and a match
//   between them would prove nothing.
//
// The number of seeds is chosen so that there are at least kLeastBits bits. Of
// a tensor with more than kMostRows rows, only every stride()-th one is
// sketched.

#ifndef HTP_WEIGHTS_SKETCH_H
#define HTP_WEIGHTS_SKETCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// A tensor's rows and columns as a sketch sees them.
struct SketchLayout {
  static constexpr int64_t kLeastBits = 128, kMostRows = 1024;

  int64_t rows = 0, columns = 0;

  /// Nothing if the tensor cannot be sketched: fewer than two columns, or
  /// dynamic sizes.
  static std::optional<SketchLayout> of(llvm::ArrayRef<int64_t> shape);

  bool isVector() const { return rows == 1; }
  /// Only every stride()-th row is sketched.
  int64_t stride() const {
    assert(rows > 0 && columns > 1 && "not a layout that can be sketched");
    return (rows + kMostRows - 1) / kMostRows;
  }
  int64_t sampledRows() const { return (rows + stride() - 1) / stride(); }
  unsigned seeds() const {
    return (kLeastBits + sampledRows() - 1) / sampledRows();
  }
  int64_t bits() const { return sampledRows() * seeds(); }
};

/// Bits, some of which may be unknown.
struct SketchBits {
  llvm::BitVector signs, known;

  explicit SketchBits(size_t size = 0) : signs(size), known(size) {}
  size_t size() const { return signs.size(); }
  void set(size_t bit, float sum);
};

/// Reads one row of a matrix as floats.
using RowReader =
    llvm::function_ref<void(int64_t row, llvm::MutableArrayRef<float> values)>;

/// The bits of all rows of a matrix, or of its transpose, for seeds 0 to
/// seeds() - 1.
class RowSketch {
public:
  RowSketch(int64_t rows, int64_t columns, unsigned seeds);

  int64_t rows() const { return numRows; }
  int64_t columns() const { return numColumns; }
  unsigned seeds() const { return bits.size(); }
  /// The bits of one seed, one per row.
  const SketchBits &operator[](unsigned seed) const {
    assert(seed < seeds() && "the matrix was sketched with fewer seeds");
    return bits[seed];
  }

  void set(unsigned seed, int64_t row, float sum) {
    assert(seed < seeds() && row >= 0 && row < numRows && "no such bit");
    bits[seed].set(row, sum);
  }

private:
  int64_t numRows, numColumns;
  std::vector<SketchBits> bits;
};

/// How many seeds to sketch for a matrix and for its transpose; 0 skips that
/// orientation.
struct SketchRequest {
  unsigned seeds = 0, transposedSeeds = 0;
};

struct MatrixSketch {
  std::optional<RowSketch> plain, transposed;
};

/// Reads every row of a matrix once, two at a time.
MatrixSketch sketchMatrix(int64_t rows, int64_t columns, SketchRequest request,
                          RowReader read);

/// The sketch of a parameter.
struct Sketch {
  SketchLayout layout;
  SketchBits bits; ///< seed by seed, each with the sampled rows

  /// Sketches a matrix, reading only the sampled rows.
  static Sketch of(const SketchLayout &layout, RowReader read);
  /// The same from bits of all rows, for at least layout.seeds() seeds.
  static Sketch of(const RowSketch &matrix);

  /// "1:" and hexadecimal digits, the first bit highest. If some bits are
  /// unknown, another colon and a mask of the known ones follow. Empty if all
  /// are unknown.
  std::string text() const;
  /// Parses the sketch of a tensor of this shape; nothing if the text has
  /// another version or does not fit the shape.
  static std::optional<Sketch> parse(llvm::StringRef text,
                                     llvm::ArrayRef<int64_t> shape);
};

/// The number of bits known in both of two sketches, and how many of these
/// differ.
struct SketchDistance {
  size_t compared = 0, differing = 0;

  double share() const { return compared ? double(differing) / compared : 1; }
};

/// Compares a parameter with the rows of a tensor from `offset` on. Both must
/// have the same number of columns. If the tensor is a part of the parameter,
/// `offset` is negative: its first row is the parameter's row -offset.
SketchDistance compare(const Sketch &parameter, const RowSketch &tensor,
                       int64_t offset);

/// The logarithm of the probability that the sketches of two unrelated tensors
/// differ in at most that many bits.
double chanceOf(const SketchDistance &distance, const SketchLayout &layout);

} // namespace htp

#endif // HTP_WEIGHTS_SKETCH_H
