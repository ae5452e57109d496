// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes, prints, parses and compares sketches: see Sketch.h.

#include "HTP/Weights/Sketch.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <cassert>
#include <cmath>

using namespace htp;
using llvm::ArrayRef;
using llvm::MutableArrayRef;
using llvm::StringRef;

/// The only version of the text form.
static constexpr llvm::StringLiteral kVersion = "1:";

//===----------------------------------------------------------------------===//
// Layout and signs
//===----------------------------------------------------------------------===//

std::optional<SketchLayout> SketchLayout::of(ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> sizes;
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size <= 0 || __builtin_mul_overflow(elements, size, &elements))
      return std::nullopt;
    if (size != 1)
      sizes.push_back(size);
  }
  if (sizes.empty())
    return std::nullopt;
  int64_t rows = sizes.size() == 1 ? 1 : sizes.front();
  return SketchLayout{rows, elements / rows};
}

/// The signs of one column for 64 seeds, starting at 64 * `group`.
static uint64_t signsOf(uint64_t column, unsigned group) {
  uint64_t x = column + (uint64_t(group) << 32) + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

static bool isNegative(uint64_t signs, unsigned seed) {
  return signs >> (seed % 64) & 1;
}

void SketchBits::set(size_t bit, float sum) {
  assert(bit < size() && "no such bit");
  if (!(sum != 0) || !std::isfinite(sum)) // zero, not a number
    return;
  known.set(bit);
  signs[bit] = sum > 0;
}

RowSketch::RowSketch(int64_t rows, int64_t columns, unsigned seeds)
    : numRows(rows), numColumns(columns), bits(seeds, SketchBits(rows)) {}

namespace {

/// Computes the signed sums of one row for several seeds.
class RowSums {
public:
  RowSums(int64_t columns, unsigned seeds) : half(columns / 2), sums(seeds) {
    if (seeds <= kTables)
      makeTables();
  }

  ArrayRef<float> of(ArrayRef<float> row) {
    assert(int64_t(row.size()) / 2 == half && "rows have equal lengths");
    std::fill(sums.begin(), sums.end(), 0);
    if (!tables.empty()) {
      for (auto [seed, table] : llvm::enumerate(tables))
        sums[seed] = product(row, table);
      return sums;
    }
    for (int64_t j = 0; j < half; ++j)
      addColumn(j, row[j] - row[j + half]);
    return sums;
  }

private:
  /// The number of seeds with precomputed tables of signs. Only small tensors
  /// use more seeds, and compute the other signs on the fly.
  static constexpr unsigned kTables = 16, kLanes = 16;

  void makeTables() {
    tables.assign(sums.size(), std::vector<float>(half));
    for (int64_t j = 0; j < half; ++j) {
      uint64_t signs = signsOf(j, 0);
      for (auto [seed, table] : llvm::enumerate(tables))
        table[j] = isNegative(signs, seed) ? -1.0f : 1.0f;
    }
  }

  /// Independent accumulators let the compiler vectorize the loop.
  float product(ArrayRef<float> row, ArrayRef<float> table) const {
    std::array<float, kLanes> lanes = {};
    const float *first = row.data(), *second = first + half;
    int64_t j = 0;
    for (; j + kLanes <= half; j += kLanes)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes[lane] += (first[j + lane] - second[j + lane]) * table[j + lane];
    float sum = 0;
    for (float lane : lanes)
      sum += lane;
    for (; j < half; ++j)
      sum += (first[j] - second[j]) * table[j];
    return sum;
  }

  void addColumn(int64_t j, float difference) {
    for (unsigned group = 0; group * 64 < sums.size(); ++group) {
      uint64_t signs = signsOf(j, group);
      unsigned end = std::min<size_t>(sums.size(), (group + 1) * 64);
      for (unsigned seed = group * 64; seed < end; ++seed)
        sums[seed] += isNegative(signs, seed) ? -difference : difference;
    }
  }

  int64_t half;
  std::vector<float> sums;
  std::vector<std::vector<float>> tables;
};

/// Computes the signed sums of all columns at once, fed with pairs of rows.
class ColumnSums {
public:
  ColumnSums(int64_t columns, unsigned seeds)
      : sums(seeds, std::vector<float>(columns)) {}

  void add(int64_t pair, ArrayRef<float> first, ArrayRef<float> second) {
    assert(first.size() == second.size() && "rows have equal lengths");
    for (auto [seed, sum] : llvm::enumerate(sums)) {
      float sign = isNegative(signsOf(pair, seed / 64), seed) ? -1.0f : 1.0f;
      for (size_t c = 0; c < sum.size(); ++c)
        sum[c] += sign * (first[c] - second[c]);
    }
  }

  RowSketch take(int64_t columns) const {
    assert(!sums.empty() && "nothing was asked for");
    RowSketch result(sums.front().size(), columns, sums.size());
    for (auto [seed, sum] : llvm::enumerate(sums))
      for (auto [row, value] : llvm::enumerate(sum))
        result.set(seed, row, value);
    return result;
  }

private:
  std::vector<std::vector<float>> sums;
};

} // namespace

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

MatrixSketch htp::sketchMatrix(int64_t rows, int64_t columns,
                               SketchRequest request, RowReader read) {
  assert(rows > 0 && columns > 0 && "an empty matrix has no sketch");
  MatrixSketch result;
  std::optional<RowSums> along;
  std::optional<ColumnSums> across;
  if (request.seeds) {
    along.emplace(columns, request.seeds);
    result.plain.emplace(rows, columns, request.seeds);
  }
  if (request.transposedSeeds)
    across.emplace(columns, request.transposedSeeds);
  auto sumUp = [&](int64_t row, ArrayRef<float> values) {
    if (along)
      for (auto [seed, sum] : llvm::enumerate(along->of(values)))
        result.plain->set(seed, row, sum);
  };
  std::vector<float> first(columns), second(columns);
  int64_t half = rows / 2;
  for (int64_t row = 0; row < half; ++row) {
    read(row, first);
    read(row + half, second);
    sumUp(row, first);
    sumUp(row + half, second);
    if (across)
      across->add(row, first, second);
  }
  if (rows % 2 && along) { // the last row has no partner
    read(rows - 1, first);
    sumUp(rows - 1, first);
  }
  if (across)
    result.transposed.emplace(across->take(rows));
  return result;
}

Sketch Sketch::of(const SketchLayout &layout, RowReader read) {
  Sketch sketch{layout, SketchBits(layout.bits())};
  RowSums sums(layout.columns, layout.seeds());
  std::vector<float> values(layout.columns);
  for (int64_t i = 0, count = layout.sampledRows(); i < count; ++i) {
    read(i * layout.stride(), values);
    for (auto [seed, sum] : llvm::enumerate(sums.of(values)))
      sketch.bits.set(seed * count + i, sum);
  }
  return sketch;
}

Sketch Sketch::of(const RowSketch &matrix) {
  SketchLayout layout{matrix.rows(), matrix.columns()};
  assert(matrix.seeds() >= layout.seeds() && "sketched with too few seeds");
  Sketch sketch{layout, SketchBits(layout.bits())};
  int64_t count = layout.sampledRows();
  for (unsigned seed = 0; seed < layout.seeds(); ++seed)
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = i * layout.stride();
      sketch.bits.signs[seed * count + i] = matrix[seed].signs[row];
      sketch.bits.known[seed * count + i] = matrix[seed].known[row];
    }
  return sketch;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string digitsOf(const llvm::BitVector &bits) {
  std::string text;
  for (size_t begin = 0; begin < bits.size(); begin += 4) {
    unsigned digit = 0;
    for (size_t bit = begin; bit < begin + 4; ++bit)
      digit = digit * 2 + (bit < bits.size() && bits[bit]);
    text.push_back(llvm::hexdigit(digit, /*LowerCase=*/true));
  }
  return text;
}

static bool readDigits(StringRef text, llvm::BitVector &bits) {
  if (text.size() != (bits.size() + 3) / 4)
    return false;
  for (auto [place, digit] : llvm::enumerate(text)) {
    unsigned value = llvm::hexDigitValue(digit);
    if (value > 15)
      return false;
    for (unsigned k = 0; k < 4; ++k)
      if (size_t bit = place * 4 + k; bit < bits.size() && value >> (3 - k) & 1)
        bits.set(bit);
  }
  return true;
}

std::string Sketch::text() const {
  if (bits.known.none())
    return "";
  std::string text = kVersion.str() + digitsOf(bits.signs);
  return bits.known.all() ? text : text + ":" + digitsOf(bits.known);
}

std::optional<Sketch> Sketch::parse(StringRef text, ArrayRef<int64_t> shape) {
  std::optional<SketchLayout> layout = SketchLayout::of(shape);
  if (!layout || !text.consume_front(kVersion))
    return std::nullopt;
  auto [signs, known] = text.split(':');
  // Check the length before allocating memory for a shape from a file.
  if (signs.size() != size_t(layout->bits() + 3) / 4)
    return std::nullopt;
  Sketch sketch{*layout, SketchBits(layout->bits())};
  if (!readDigits(signs, sketch.bits.signs))
    return std::nullopt;
  if (known.empty() && !text.contains(':'))
    sketch.bits.known.set();
  else if (!readDigits(known, sketch.bits.known))
    return std::nullopt;
  return sketch;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

SketchDistance htp::compare(const Sketch &parameter, const RowSketch &tensor,
                            int64_t offset) {
  assert(parameter.layout.columns == tensor.columns() &&
         "only rows of equal length can be compared");
  assert(parameter.bits.size() == size_t(parameter.layout.bits()) &&
         "a sketch has the bits of its layout");
  SketchDistance distance;
  int64_t count = parameter.layout.sampledRows(),
          stride = parameter.layout.stride();
  unsigned seeds = std::min(parameter.layout.seeds(), tensor.seeds());
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const SketchBits &theirs = tensor[seed];
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = i * stride + offset;
      if (row < 0 || row >= tensor.rows())
        continue;
      size_t bit = seed * count + i;
      if (!parameter.bits.known[bit] || !theirs.known[row])
        continue;
      ++distance.compared;
      distance.differing += parameter.bits.signs[bit] != theirs.signs[row];
    }
    // About half of the bits differ: the tensors are unrelated, so stop early.
    if (distance.compared >= SketchLayout::kLeastBits &&
        distance.share() > 0.375)
      break;
  }
  return distance;
}

/// If a row has more columns than seeds, its bits are independent and the
/// distance is binomial. The bits of a short row with many seeds only measure
/// the angle between two vectors of `half` dimensions, however many bits there
/// are.
double htp::chanceOf(const SketchDistance &distance,
                     const SketchLayout &layout) {
  assert(distance.differing <= distance.compared && "not a distance");
  double n = distance.compared, share = distance.share();
  if (share >= 0.5)
    return 0;
  // The Chernoff bound on the binomial's tail.
  auto term = [](double x) { return x > 0 ? x * std::log(2 * x) : 0; };
  double byBits = -n * (term(share) + term(1 - share));
  // The fraction of a sphere within an angle of `share` times pi, for each row.
  int64_t half = layout.columns / 2;
  double rows = std::min<double>(layout.sampledRows(), n / layout.seeds());
  double angle = std::sin(M_PI * std::max(share, 0.5 / n));
  double byAngle = rows * double(half - 1) * std::log(angle);
  return std::max(byBits, byAngle);
}
