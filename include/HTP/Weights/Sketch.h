// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches of a tensor's contents, which change little when the values change
// little: a parameter is recognised by its sketch after it was rounded,
// quantized, transposed, scaled row by row, or packed with others. A
// fingerprint (Fingerprint.h) recognises only what is equal.
//
// A tensor without its sizes of one is a matrix of `rows` (the first size) by
// `columns` (all others); a vector is one row. With h = columns / 2 and signs
// that depend on the column and a seed alone, a row's bit for a seed is the
// sign of
//
//   sum over j < h of sign(j, seed) * (row[j] - row[j + h])
//
// - Rounding and quantizing change a row's sum a little: few bits flip.
// - A positive factor per row (batch norm folded into a convolution, the scale
//   of a channel) changes no sign, and a constant added to a row (a zero point,
//   the 1 of a norm that stores its weight without it) cancels.
// - What is packed (q, k and v in one) is the rows of its parts in turn.
// - Rows that are constant have no bit: weights that were never trained are
//   equal, and recognising one of them would prove nothing.
//
// There are as many seeds as it takes to have kLeastBits, and of a tensor with
// more rows than kMostRows every so manieth row counts.

#ifndef HTP_WEIGHTS_SKETCH_H
#define HTP_WEIGHTS_SKETCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// A tensor's rows and columns as a sketch sees them.
struct SketchLayout {
  static constexpr int64_t kLeastBits = 128, kMostRows = 1024;

  int64_t rows = 0, columns = 0;

  /// Nothing where there is too little to tell apart: fewer than two columns,
  /// or sizes that are not known.
  static std::optional<SketchLayout> of(llvm::ArrayRef<int64_t> shape);

  bool isVector() const { return rows == 1; }
  /// Every so manieth row counts.
  int64_t stride() const { return (rows + kMostRows - 1) / kMostRows; }
  int64_t sampledRows() const { return (rows + stride() - 1) / stride(); }
  unsigned seeds() const {
    return (kLeastBits + sampledRows() - 1) / sampledRows();
  }
  int64_t bits() const { return sampledRows() * seeds(); }
};

/// Bits of which some are not known.
struct SketchBits {
  llvm::BitVector signs, known;

  explicit SketchBits(size_t size = 0) : signs(size), known(size) {}
  size_t size() const { return signs.size(); }
  void set(size_t bit, float sum);
};

/// Reads one row of a matrix as floats.
using RowReader =
    llvm::function_ref<void(int64_t row, llvm::MutableArrayRef<float> values)>;

/// The bits of all rows of a matrix, or of all its columns (its rows where it
/// is transposed), for the first seeds.
class RowSketch {
public:
  RowSketch(int64_t rows, int64_t columns, unsigned seeds);

  int64_t rows() const { return numRows; }
  int64_t columns() const { return numColumns; }
  unsigned seeds() const { return bits.size(); }
  /// The bits of one seed, one a row.
  const SketchBits &operator[](unsigned seed) const { return bits[seed]; }

  void set(unsigned seed, int64_t row, float sum) { bits[seed].set(row, sum); }

private:
  int64_t numRows, numColumns;
  std::vector<SketchBits> bits;
};

/// What of a matrix is to be sketched: seeds of 0 leave an orientation out.
struct SketchRequest {
  unsigned seeds = 0, transposedSeeds = 0;
};

struct MatrixSketch {
  std::optional<RowSketch> plain, transposed;
};

/// Reads every row of a matrix once, two at a time.
MatrixSketch sketchMatrix(int64_t rows, int64_t columns, SketchRequest request,
                          RowReader read);

/// A parameter's sketch.
struct Sketch {
  SketchLayout layout;
  SketchBits bits; ///< seed by seed, each with the sampled rows

  /// Of the rows that count.
  static Sketch of(const SketchLayout &layout, RowReader read);
  /// The same of a matrix whose rows were all sketched, with enough seeds.
  static Sketch of(const RowSketch &matrix);

  /// "1:" and hexadecimal digits, the first bit highest; where bits are not
  /// known another colon and the digits of those that are. Empty where none
  /// is known.
  std::string text() const;
  /// The sketch of a tensor of this shape; nothing where the text is of another
  /// version, or does not fit.
  static std::optional<Sketch> parse(llvm::StringRef text,
                                     llvm::ArrayRef<int64_t> shape);
};

/// How many bits of two sketches are known in both, and how many of these
/// differ.
struct SketchDistance {
  size_t compared = 0, differing = 0;

  double share() const { return compared ? double(differing) / compared : 1; }
};

/// Compares a parameter with the rows from `offset` of a tensor that has as
/// many columns. Where the tensor is the smaller one, `offset` is negative: its
/// first row is the parameter's row -offset.
SketchDistance compare(const Sketch &parameter, const RowSketch &tensor,
                       int64_t offset);

/// The logarithm of the probability that sketches of two tensors with random
/// values differ in no more than that.
double chanceOf(const SketchDistance &distance, const SketchLayout &layout);

} // namespace htp

#endif // HTP_WEIGHTS_SKETCH_H
