// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches of parameters: which changes they survive, and what they must not
// match.

#include "HTP/Weights/SketchIndex.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace htp;

namespace {

struct Matrix {
  int64_t rows, columns;
  std::vector<float> values;

  float &at(int64_t r, int64_t c) { return values[r * columns + c]; }
  float at(int64_t r, int64_t c) const { return values[r * columns + c]; }

  llvm::SmallVector<int64_t, 4> shape() const { return {rows, columns}; }
  Sketch sketch() const {
    auto read = [&](int64_t row, llvm::MutableArrayRef<float> out) {
      for (size_t c = 0; c < out.size(); ++c)
        out[c] = values[row * out.size() + c];
    };
    return Sketch::of(*SketchLayout::of(shape()), read);
  }
  std::unique_ptr<WeightReader> reader() const {
    StoredTensor tensor;
    tensor.bytes = {reinterpret_cast<const char *>(values.data()),
                    values.size() * sizeof(float)};
    tensor.shape = shape();
    return WeightReader::plain(tensor);
  }
  Matrix transposed() const {
    Matrix other{columns, rows, std::vector<float>(values.size())};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        other.at(c, r) = at(r, c);
    return other;
  }
};

Matrix random(int64_t rows, int64_t columns, unsigned seed, float mean = 0) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(mean, 0.02f);
  Matrix matrix{rows, columns, std::vector<float>(rows * columns)};
  for (float &value : matrix.values)
    value = normal(engine);
  return matrix;
}

/// Quantizes each block of 32 to 4 bits.
Matrix quantized(Matrix matrix, int64_t block = 32) {
  for (int64_t r = 0; r < matrix.rows; ++r)
    for (int64_t begin = 0; begin < matrix.columns; begin += block) {
      int64_t end = std::min(matrix.columns, begin + block);
      float most = 0;
      for (int64_t c = begin; c < end; ++c)
        most = std::max(most, std::abs(matrix.at(r, c)));
      for (int64_t c = begin; c < end; ++c)
        matrix.at(r, c) = std::round(matrix.at(r, c) / most * 7) * most / 7;
    }
  return matrix;
}

SketchIndex indexOf(llvm::ArrayRef<Matrix> all) {
  SketchIndex index;
  for (auto [i, matrix] : llvm::enumerate(all))
    index.add(i, matrix.sketch());
  return index;
}

std::vector<int32_t> found(const SketchIndex &index, const Matrix &matrix) {
  std::vector<int32_t> ids;
  for (const SketchMatch &match : index.find(*matrix.reader()))
    ids.insert(ids.end(), match.parameters.begin(), match.parameters.end());
  return ids;
}

using Ids = std::vector<int32_t>;

} // namespace

TEST(Sketch, LayoutDropsSizesOfOne) {
  EXPECT_FALSE(SketchLayout::of({}));
  EXPECT_FALSE(SketchLayout::of({1, 1}));
  EXPECT_FALSE(SketchLayout::of({3, -1}));
  EXPECT_FALSE(SketchLayout::of({0, 3}));
  auto vector = SketchLayout::of({1, 1, 7});
  ASSERT_TRUE(vector);
  EXPECT_EQ(vector->rows, 1);
  EXPECT_EQ(vector->columns, 7);
  EXPECT_EQ(vector->seeds(), 128u);
  auto convolution = SketchLayout::of({16, 8, 3, 3});
  EXPECT_EQ(convolution->rows, 16);
  EXPECT_EQ(convolution->columns, 72);
  EXPECT_EQ(convolution->seeds(), 8u);
  auto table = SketchLayout::of({5000, 8});
  EXPECT_EQ(table->stride(), 5);
  EXPECT_EQ(table->sampledRows(), 1000);
  EXPECT_EQ(table->seeds(), 1u);
}

/// The same text as python/htp/sketches.py writes: see test_tracing.py.
TEST(Sketch, TextIsTheSameAsPythons) {
  Matrix matrix{2, 6, {1, 2, 3, 4, 5, 6, 9, 7, 5, 3, 1, -1}};
  std::string text = matrix.sketch().text();
  ASSERT_EQ(text.size(), 2u + 32);
  EXPECT_EQ(text.substr(0, 2), "1:");
  // Each row's differences are equal, three of -3 and three of 6: the signs of
  // the rows differ for every seed.
  auto again = Sketch::parse(text, matrix.shape());
  ASSERT_TRUE(again);
  for (unsigned seed = 0; seed < 64; ++seed)
    EXPECT_NE(again->bits.signs[2 * seed], again->bits.signs[2 * seed + 1]);
  EXPECT_EQ(text, "1:aa5a5a99a99596955aaa9a655655a596");
}

TEST(Sketch, TextThatDoesNotFitIsNone) {
  std::string text = random(16, 16, 1).sketch().text();
  EXPECT_TRUE(Sketch::parse(text, {16, 16}));
  EXPECT_FALSE(Sketch::parse(text, {17, 16}));
  EXPECT_FALSE(Sketch::parse(text.substr(1), {16, 16}));
  EXPECT_FALSE(Sketch::parse("2" + text.substr(1), {16, 16}));
  EXPECT_FALSE(Sketch::parse(text + ":", {16, 16}));
  EXPECT_FALSE(Sketch::parse(text + ":12", {16, 16}));
  text.back() = 'x';
  EXPECT_FALSE(Sketch::parse(text, {16, 16}));
  EXPECT_FALSE(Sketch::parse("", {16, 16}));
}

TEST(Sketch, ConstantRowsHaveNoBits) {
  Matrix ones{1, 64, std::vector<float>(64, 1.0f)};
  EXPECT_EQ(ones.sketch().text(), "");
  Matrix half = random(8, 16, 1);
  for (int64_t c = 0; c < 16; ++c)
    half.at(3, c) = 0.1f;
  auto again = Sketch::parse(half.sketch().text(), half.shape());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->bits.known.count(), 7u * 16);
  EXPECT_TRUE(found(indexOf({ones}), ones).empty());
}

TEST(Sketch, NotANumberIsNotKnown) {
  Matrix broken = random(8, 16, 1);
  broken.at(2, 5) = std::numeric_limits<float>::quiet_NaN();
  broken.at(4, 0) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(broken.sketch().bits.known.count(), 6u * 16);
}

TEST(SketchIndex, FindsQuantizedParametersOfOneShape) {
  for (int64_t size : {16, 32, 64}) {
    std::vector<Matrix> all;
    for (unsigned i = 0; i < 96; ++i)
      all.push_back(random(size, size, i));
    SketchIndex index = indexOf(all);
    for (int32_t i = 0; i < 96; ++i) {
      Matrix rounded = quantized(all[i]);
      EXPECT_EQ(found(index, rounded), Ids{i}) << size;
      EXPECT_EQ(found(index, rounded.transposed()), Ids{i}) << size;
    }
    for (unsigned i = 0; i < 96; ++i)
      EXPECT_TRUE(found(index, random(size, size, 1000 + i)).empty()) << size;
  }
}

TEST(SketchIndex, FindsPackedParameters) {
  std::vector<Matrix> all;
  for (unsigned i = 0; i < 32; ++i)
    all.push_back(random(i % 4 == 0 ? 32 : 16, 32, i));
  SketchIndex index = indexOf(all);
  Matrix packed{64, 32, {}};
  for (int32_t i : {8, 9, 10}) {
    Matrix part = quantized(all[i]);
    packed.values.insert(packed.values.end(), part.values.begin(),
                         part.values.end());
  }
  EXPECT_EQ(found(index, packed), (Ids{8, 9, 10}));
  EXPECT_EQ(found(index, packed.transposed()), (Ids{8, 9, 10}));
  for (const SketchMatch &match : index.find(*packed.reader()))
    EXPECT_TRUE(match.isPart);
}

TEST(SketchIndex, ATableThatRepeatsAParameterIsNotPackedOfIt) {
  std::vector<Matrix> all = {random(16, 32, 1), random(16, 32, 2)};
  Matrix table{64, 32, {}};
  for (unsigned i = 0; i < 4; ++i)
    table.values.insert(table.values.end(), all[0].values.begin(),
                        all[0].values.end());
  EXPECT_EQ(found(indexOf(all), table), Ids{});
}

TEST(SketchIndex, FindsAPartOfAParameter) {
  std::vector<Matrix> all = {random(96, 32, 1), random(96, 32, 2)};
  Matrix part{32, 32, {}};
  part.values.assign(all[1].values.begin() + 32 * 32,
                     all[1].values.begin() + 64 * 32);
  EXPECT_EQ(found(indexOf(all), part), Ids{1});
  EXPECT_TRUE(indexOf(all).find(*part.reader()).front().isCut);
  EXPECT_FALSE(indexOf(all).find(*all[1].reader()).front().isCut);
}

TEST(SketchIndex, FindsScaledRowsAndShiftedVectors) {
  std::vector<Matrix> all, vectors;
  for (unsigned i = 0; i < 24; ++i) {
    all.push_back(random(32, 72, i));
    vectors.push_back(random(1, 64, 100 + i, /*mean=*/1));
  }
  SketchIndex index = indexOf(all), ofVectors = indexOf(vectors);
  for (int32_t i = 0; i < 24; ++i) {
    Matrix folded = all[i];
    for (int64_t r = 0; r < 32; ++r)
      for (int64_t c = 0; c < 72; ++c)
        folded.at(r, c) *= 0.1f + r;
    EXPECT_EQ(found(index, folded), Ids{i});
    Matrix shifted = vectors[i]; // in 8 bits, from 0 on
    for (float &value : shifted.values)
      value = std::round(value * 200) / 200 - 1;
    EXPECT_EQ(found(ofVectors, shifted), Ids{i});
    EXPECT_TRUE(found(ofVectors, random(1, 64, 500 + i, 1)).empty());
  }
}

/// The biases of several layers in one vector, in any order and of several
/// sizes.
TEST(SketchIndex, FindsPackedVectors) {
  std::vector<Matrix> all;
  for (unsigned i = 0; i < 24; ++i)
    all.push_back(random(1, i % 2 ? 64 : 128, i, /*mean=*/1));
  SketchIndex index = indexOf(all);
  auto packed = [&](llvm::ArrayRef<int32_t> ids, int64_t zeros) {
    Matrix vector{1, 0, {}};
    for (int32_t i : ids) {
      vector.values.insert(vector.values.end(), all[i].values.begin(),
                           all[i].values.end());
      if (zeros) // after the first
        vector.values.insert(vector.values.end(), std::exchange(zeros, 0), 0);
    }
    vector.columns = vector.values.size();
    return vector;
  };
  EXPECT_EQ(found(index, packed({7, 2, 5}, 0)), (Ids{7, 2, 5}));
  for (const SketchMatch &match : index.find(*packed({7, 2}, 0).reader()))
    EXPECT_TRUE(match.isPart);
  EXPECT_FALSE(index.find(*packed({7}, 0).reader()).front().isPart);
  // A layer without a bias has zeros instead.
  EXPECT_EQ(found(index, packed({7, 5, 9}, 64)), (Ids{7, 5, 9}));
  // If most of a vector is something else, the rest is chance.
  EXPECT_EQ(found(index, packed({7, 5}, 64 * 5)), Ids{});
}

TEST(SketchIndex, EqualParametersAreAllNamed) {
  Matrix one = random(32, 32, 1), other = random(32, 32, 2);
  EXPECT_EQ(found(indexOf({one, other, one}), quantized(one)), (Ids{0, 2}));
}

/// Random weights of all usual shapes never match: the threshold is strict
/// enough.
TEST(SketchIndex, RandomWeightsAreNeverFound) {
  for (auto [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 8},
                                                {1, 16},
                                                {1, 32},
                                                {1, 512},
                                                {2, 16},
                                                {4, 4},
                                                {16, 3},
                                                {16, 9},
                                                {48, 16}}) {
    std::vector<Matrix> all;
    for (unsigned i = 0; i < 200; ++i)
      all.push_back(random(rows, columns, i, 0.5f));
    SketchIndex index = indexOf(all);
    for (unsigned i = 0; i < 200; ++i)
      EXPECT_TRUE(found(index, random(rows, columns, 1000 + i, 0.5f)).empty())
          << rows << " by " << columns;
  }
}
