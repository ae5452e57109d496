// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs that a quantizer or an optimizer has sorted anew: the order of their
// nodes is not that of execution, and what is equal by chance leads astray.

#include "AlignmentModel.h"

#include "HTP/Alignment/Emission.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {

/// A chain of layers, modules from `first` on, each with a parameter of its
/// own.
void addLayers(Model &model, int32_t &t, int32_t &x, int32_t first, int count) {
  for (int i = 0; i < count; ++i) {
    uint64_t contents = 100 + first + i;
    t = model.step("onnx::MatMul", first + i, {t}, model.parameter(contents));
    x = model.node("MatMul", {x, model.constant(contents)});
  }
}

/// The second of two embeddings of one table is the first node of the graph:
/// it reads the second argument.
TEST(AlignmentSorted, EqualParametersOfTwoArguments) {
  constexpr int kLayers = 60;
  Model model;
  int32_t ids = model.traceInput(), other = model.traceInput();
  int32_t x = model.input(), y = model.input(), table = model.parameter(1);
  int32_t t = model.step("onnx::Gather", 1, {ids}, table);
  int32_t late = model.node("Gather", {model.constant(1), y});
  x = model.node("Gather", {model.constant(1), x});
  addLayers(model, t, x, 3, kLayers);
  int32_t u = model.step("onnx::Gather", 2, {other}, table);
  model.program.outputs.push_back(model.step("onnx::Sub", 0, {t, u}));
  model.graph.outputs.push_back(model.node("Sub", {x, late}));
  std::vector<int32_t> found = model.modules();
  EXPECT_EQ(found[0], 2);
  EXPECT_EQ(found[1], 1);
}

/// A list of positions is read by an embedding and by another gather, which is
/// not that of the embedding: it does not read its table.
TEST(AlignmentSorted, PositionsAreEqualByChance) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t table = model.parameter(1);
  int32_t positions = model.parameter(2);
  model.program.parameters[positions].content.kind = ElementKind::Integer;
  int32_t embedded = model.step("onnx::Gather", 1, {}, table);
  model.program.steps.back().parameters.push_back(positions);
  int32_t relu = model.step("onnx::Relu", 2, {t});
  int32_t taken = model.step("onnx::Gather", 2, {relu});
  model.program.outputs.push_back(
      model.step("onnx::Sub", 0, {embedded, taken}));

  int32_t places = model.constant(2);
  model.graph.constants.back().kind = ElementKind::Integer;
  int32_t a = model.node("Gather", {model.constant(1), places});
  int32_t b = model.node("Gather", {model.node("Relu", {x}), places});
  model.graph.outputs.push_back(model.node("Sub", {a, b}));
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{1, 2, 2, 0}));
}

/// A quantizer takes a product with a bias apart.
TEST(AlignmentSorted, ProductAndBias) {
  EmissionRule rule = EmissionTable::get().rule("onnx::Gemm");
  EXPECT_EQ(rule.emits("Gemm"), Emits::Main);
  EXPECT_EQ(rule.emits("MatMul"), Emits::Main);
  EXPECT_EQ(rule.emits("Add"), Emits::Main);
  EXPECT_TRUE(rule.many);
}

/// A Gelu in one node is where the error function is, not where the product
/// after it is.
TEST(AlignmentSorted, GeluIsNotTheProductAfterIt) {
  const EmissionTable &table = EmissionTable::get();
  EXPECT_EQ(table.rule("onnx::Erf").emits("Gelu"), Emits::Main);
  EXPECT_EQ(table.rule("onnx::Mul").emits("Gelu"), Emits::Part);
  // 1: a product, 2: the Gelu, 3: what multiplies by it.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t up = model.step("onnx::MatMul", 3, {t}, model.parameter(1));
  t = model.step("onnx::MatMul", 1, {t}, model.parameter(2));
  int32_t tanh = model.step("onnx::Tanh", 2, {t});
  int32_t gelu = model.step("onnx::Mul", 2, {t, tanh});
  model.program.outputs.push_back(model.step("onnx::Mul", 3, {gelu, up}));
  int32_t other = model.node("MatMul", {x, model.constant(1)});
  x = model.node("MatMul", {x, model.constant(2)});
  x = model.node("Gelu", {x});
  model.graph.outputs.push_back(model.node("Mul", {x, other}));
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{3, 1, 2, 3}));
}

/// A node that a sorter moved ahead of all others is where its connections
/// have it, not where the order would have it: no such node is made there.
TEST(AlignmentSorted, ConnectionsBeforeOrder) {
  constexpr int kLayers = 40;
  Model model;
  int32_t t = model.traceInput(), mask = model.traceInput();
  int32_t x = model.input(), y = model.input();
  t = model.step("onnx::Exp", 1, {t});
  int32_t opened = model.step("onnx::Not", 1, {mask});
  x = model.node("Exp", {x});
  int32_t n = model.node("Not", {y}, ElementKind::Bool);
  int32_t w = model.node("Where", {n, model.constant(5)});
  addLayers(model, t, x, 3, kLayers);
  int32_t u = model.step("onnx::Where", 2, {opened});
  model.program.outputs.push_back(model.step("onnx::Sub", 2, {t, u}));
  model.graph.outputs.push_back(model.node("Sub", {x, w}));
  EXPECT_EQ(model.modules()[2], 2);
}

/// Each layer computes sizes from constants, in many steps, as all others do. A
/// tool has sorted the file so that all of these nodes come first.
TEST(AlignmentSorted, NodesOfConstantsCameFirst) {
  constexpr int kLayers = 12, kSteps = 10, kMore = 40;
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  std::vector<int32_t> sizes, expected;
  for (int i = 1; i <= kLayers; ++i) {
    int32_t size = model.constant(7);
    for (int k = 0; k < kSteps; ++k) {
      size = model.node("Mod", {size}, ElementKind::Integer);
      size = model.node("Sub", {size}, ElementKind::Integer);
    }
    sizes.push_back(size);
    expected.insert(expected.end(), 2 * kSteps, i);
  }
  for (int i = 1; i <= kLayers; ++i) {
    int32_t size = model.step("aten::remainder", i, {});
    size = model.step("aten::rsub", i, {size});
    for (int k = 1; k < kSteps; ++k) {
      size = model.step("aten::remainder", i, {size});
      size = model.step("aten::rsub", i, {size});
    }
    t = model.step("aten::pad", i, {t, size});
    t = model.step("aten::matmul", i, {t}, model.parameter(100 + i));
    x = model.node("Pad", {x, sizes[i - 1]});
    x = model.node("MatMul", {x, model.constant(100 + i)});
    for (int k = 0; k < kMore; ++k) {
      t = model.step("aten::relu", i, {t});
      x = model.node("Relu", {x});
    }
    expected.insert(expected.end(), 2 + kMore, i);
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules(), expected);
}

} // namespace
