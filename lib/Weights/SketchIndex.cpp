// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the nearest sketch and accepts it if that cannot be chance: see
// SketchIndex.h.

#include "HTP/Weights/SketchIndex.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace htp;
using llvm::SmallVector;

/// The natural logarithm of one in a billion: the probability below which a
/// match is not considered chance. A model with a hundred parameters of one
/// shape needs ten thousand comparisons.
static constexpr double kChance = -20.7;

/// Distances up to this cannot be told apart from `differing`: bits flip by
/// chance.
static size_t alsoNear(size_t differing) {
  return differing + 3 + 2 * size_t(std::sqrt(double(differing)));
}

/// When splitting a packed weight: how many gaps (unknown parts) are skipped,
/// and the maximal number of parts.
static constexpr unsigned kMostGaps = 3;
static constexpr int64_t kMostParts = 8;

/// A match with more equal parameters than this tells nothing.
static constexpr size_t kMaxEqualParameters = 64;

/// Whether the matched parts cover most of a weight. A few matching rows are no
/// proof of packing (tables of angles share their first rows).
static bool areMost(int64_t covered, int64_t all) { return 2 * covered >= all; }

/// Whether all parameters that `match` may be were already found in the weight.
/// A weight that contains a parameter twice is not packed but periodic (a table
/// of angles).
static bool isRepeated(llvm::ArrayRef<SketchMatch> parts,
                       const SketchMatch &match) {
  auto isSame = [&](const SketchMatch &part) {
    return part.parameters == match.parameters;
  };
  return llvm::count_if(parts, isSame) >= int64_t(match.parameters.size());
}

void SketchIndex::add(int32_t parameter, Sketch sketch) {
  if (sketch.bits.known.none())
    return;
  auto &groups = sketch.layout.isVector() ? vectors : byColumns;
  groups[sketch.layout.columns].push_back({parameter, std::move(sketch)});
}

const SketchIndex::Group *SketchIndex::group(int64_t columns,
                                             bool ofVectors) const {
  const auto &groups = ofVectors ? vectors : byColumns;
  auto found = groups.find(columns);
  return found == groups.end() ? nullptr : &found->second;
}

/// A parameter with few rows has many seeds. It is not searched for in weights
/// with more than this many times its rows, as every row would have to be
/// sketched for every seed.
static constexpr int64_t kMaxRowRatio = 64;

unsigned SketchIndex::seedsFor(const SketchLayout &layout) const {
  unsigned seeds = 0;
  if (const Group *same = group(layout.columns, /*ofVectors=*/false))
    for (const Entry &entry : *same)
      if (entry.sketch.layout.rows >= layout.rows / kMaxRowRatio)
        seeds = std::max(seeds, entry.sketch.layout.seeds());
  return seeds;
}

bool SketchIndex::holds(const SketchLayout &layout) const {
  const Group *same = group(layout.columns, layout.isVector());
  return same && llvm::any_of(*same, [&](const Entry &entry) {
           return entry.sketch.layout.rows == layout.rows;
         });
}

static bool isMatrix(llvm::ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t size) { return size != 1; }) == 2;
}

SmallVector<Sketch, 2> htp::sketchBothWays(const SketchLayout &layout,
                                           const WeightReader &weight) {
  SketchLayout other{layout.columns, layout.rows};
  SketchRequest request;
  request.seeds = layout.seeds();
  if (isMatrix(weight.shape()))
    request.transposedSeeds = other.seeds();
  MatrixSketch both =
      sketchMatrix(layout.rows, layout.columns, request,
                   [&](int64_t row, llvm::MutableArrayRef<float> values) {
                     weight.read(row, values);
                   });
  SmallVector<Sketch, 2> sketches;
  sketches.push_back(Sketch::of(*both.plain));
  if (both.transposed)
    sketches.push_back(Sketch::of(*both.transposed));
  return sketches;
}

bool SketchIndex::mayHold(llvm::ArrayRef<int64_t> shape) const {
  std::optional<SketchLayout> layout = SketchLayout::of(shape);
  if (!layout)
    return false;
  if (layout->isVector())
    return !vectors.empty();
  return group(layout->columns, false) ||
         (isMatrix(shape) && group(layout->rows, false));
}

std::optional<SketchMatch> SketchIndex::nearest(
    const RowSketch &tensor, int64_t offset,
    llvm::function_ref<bool(const SketchLayout &)> fits) const {
  const Group *candidates = group(tensor.columns(), tensor.rows() == 1);
  if (!candidates)
    return std::nullopt;
  struct Near {
    SketchDistance distance;
    const Entry *entry;
  };
  SmallVector<Near> near;
  const Near *best = nullptr;
  for (const Entry &entry : *candidates) {
    if (!fits(entry.sketch.layout))
      continue;
    SketchDistance distance = compare(entry.sketch, tensor, offset);
    if (chanceOf(distance, entry.sketch.layout) < kChance)
      near.push_back({distance, &entry});
  }
  for (const Near &one : near)
    if (!best || one.distance.share() < best->distance.share())
      best = &one;
  if (!best)
    return std::nullopt;
  SketchMatch match;
  match.rows = best->entry->sketch.layout.rows;
  for (const Near &one : near)
    if (one.distance.differing <= alsoNear(best->distance.differing) &&
        one.entry->sketch.layout.rows == match.rows &&
        !llvm::is_contained(match.parameters, one.entry->parameter))
      match.parameters.push_back(one.entry->parameter);
  if (match.parameters.size() > kMaxEqualParameters)
    return std::nullopt;
  return match;
}

std::optional<SketchMatch>
SketchIndex::findSame(const RowSketch &tensor) const {
  return nearest(tensor, 0, [&](const SketchLayout &layout) {
    return layout.rows == tensor.rows();
  });
}

/// Whether the weight is one parameter or a part of one.
std::optional<SketchMatch>
SketchIndex::findWhole(const RowSketch &tensor) const {
  int64_t rows = tensor.rows();
  if (auto same = findSame(tensor))
    return same;
  const Group *candidates = group(tensor.columns(), false);
  int64_t most = 0;
  if (candidates)
    for (const Entry &entry : *candidates)
      if (int64_t all = entry.sketch.layout.rows; all > rows && all % rows == 0)
        most = std::max(most, std::min(all / rows, kMostParts));
  for (int64_t k = 0; k < most; ++k)
    if (auto part = nearest(tensor, -k * rows, [&](const SketchLayout &layout) {
          return layout.rows >= (k + 1) * rows && layout.rows % rows == 0 &&
                 layout.rows > rows;
        })) {
      part->isCut = true;
      return part;
    }
  return std::nullopt;
}

/// Finds parameters stored one after the other in the rows of a weight, perhaps
/// with unknown ones in between.
SmallVector<SketchMatch, 1>
SketchIndex::findParts(const RowSketch &tensor) const {
  SmallVector<SketchMatch, 1> parts;
  const Group *candidates = group(tensor.columns(), false);
  if (!candidates)
    return parts;
  int64_t rows = tensor.rows(), least = rows, covered = 0;
  for (const Entry &entry : *candidates)
    least = std::min(least, entry.sketch.layout.rows);
  unsigned gaps = 0;
  for (int64_t at = 0; at + least <= rows && gaps <= kMostGaps;) {
    auto found = nearest(tensor, at, [&](const SketchLayout &layout) {
      return layout.rows < rows && at + layout.rows <= rows;
    });
    if (!found) {
      at += least;
      ++gaps;
      continue;
    }
    if (isRepeated(parts, *found))
      return {};
    at += found->rows;
    covered += found->rows;
    found->isPart = true;
    parts.push_back(std::move(*found));
  }
  return areMost(covered, rows) ? parts : SmallVector<SketchMatch, 1>();
}

SmallVector<SketchMatch, 1> SketchIndex::findIn(const RowSketch &tensor) const {
  if (auto whole = findWhole(tensor))
    return {std::move(*whole)};
  return findParts(tensor);
}

/// A vector has one sketch for the whole of it, so its parts are sketched on
/// demand.
SmallVector<SketchMatch, 1>
SketchIndex::findVector(int64_t columns, const WeightReader &weight) const {
  std::vector<float> values(columns);
  weight.read(0, values);
  auto sketch = [&](int64_t begin, int64_t size) {
    auto read = [&](int64_t, llvm::MutableArrayRef<float> row) {
      llvm::copy(llvm::ArrayRef(values).slice(begin, size), row.begin());
    };
    SketchRequest request;
    request.seeds = SketchLayout::kLeastBits;
    return *sketchMatrix(1, size, request, read).plain;
  };
  auto any = [](const SketchLayout &) { return true; };
  if (vectors.contains(columns))
    if (auto whole = nearest(sketch(0, columns), 0, any))
      return {std::move(*whole)};
  SmallVector<int64_t> sizes;
  for (const auto &[size, group] : vectors)
    if (size < columns && size * kMostParts >= columns)
      sizes.push_back(size);
  llvm::sort(sizes, std::greater<int64_t>());
  SmallVector<SketchMatch, 1> parts;
  unsigned gaps = 0;
  int64_t covered = 0;
  for (int64_t at = 0;
       !sizes.empty() && at + sizes.back() <= columns && gaps <= kMostGaps;) {
    bool found = false;
    for (int64_t size : sizes) {
      if (at + size > columns)
        continue;
      if (auto part = nearest(sketch(at, size), 0, any)) {
        part->isPart = found = true;
        parts.push_back(std::move(*part));
        at += size;
        covered += size;
        break;
      }
    }
    if (!found) {
      // A missing part (a layer without this bias) has the size of the others.
      at += sizes.back();
      ++gaps;
    }
  }
  return areMost(covered, columns) ? parts : SmallVector<SketchMatch, 1>();
}

SmallVector<SketchMatch, 1>
SketchIndex::find(const WeightReader &weight) const {
  std::optional<SketchLayout> layout = SketchLayout::of(weight.shape());
  if (!layout || !mayHold(weight.shape()))
    return {};
  if (layout->isVector())
    return findVector(layout->columns, weight);
  SketchLayout across{layout->columns, layout->rows};
  bool canTurn = isMatrix(weight.shape());
  auto sketch = [&](unsigned seeds, unsigned transposedSeeds) {
    if (!seeds && !transposedSeeds) // nothing to compare with
      return MatrixSketch();
    SketchRequest request{seeds, transposedSeeds};
    return sketchMatrix(layout->rows, layout->columns, request,
                        [&](int64_t row, llvm::MutableArrayRef<float> values) {
                          weight.read(row, values);
                        });
  };
  // Most weights are exactly one parameter, perhaps transposed, and a few seeds
  // suffice to find it.
  MatrixSketch same = sketch(holds(*layout) ? layout->seeds() : 0,
                             canTurn && holds(across) ? across.seeds() : 0);
  for (const std::optional<RowSketch> &one : {same.plain, same.transposed})
    if (one)
      if (auto match = findSame(*one))
        return {std::move(*match)};
  MatrixSketch all = sketch(seedsFor(*layout), canTurn ? seedsFor(across) : 0);
  SmallVector<SketchMatch, 1> found;
  if (all.plain)
    found = findIn(*all.plain);
  if (found.empty() && all.transposed)
    found = findIn(*all.transposed);
  return found;
}
