// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What exporters and optimizers do to single nodes.

#include "AlignmentModel.h"

#include "HTP/Alignment/Emission.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {

/// Of a kind that the table does not list anything may come, also what other
/// kinds around it are known for.
TEST(AlignmentRules, UnknownKinds) {
  // 0: root, 1 and 3: layers, 2: what is between them.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("custom::warp", 2, {t});
  t = model.step("aten::linear", 3, {t}, model.parameter(61));
  model.program.outputs.push_back(t);
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("Transpose", {x});
  x = model.node("Sqrt", {x});
  x = model.node("Transpose", {x});
  model.graph.outputs.push_back(model.node("MatMul", {x, model.constant(61)}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 2, 2, 2, 3}));
}

/// Two equal layers of which the second's weight comes first in the graph:
/// contents that were rounded tell them apart where they were recognised.
TEST(AlignmentRules, RecognisedWeightsAreAnchors) {
  auto build = [](bool recognised) {
    Model model;
    int32_t t = model.traceInput(), x = model.input();
    int32_t first = model.parameter(60), second = model.parameter(61);
    int32_t one = model.step("aten::linear", 1, {t}, first),
            other = model.step("aten::linear", 2, {t}, second);
    model.program.outputs.push_back(model.step("aten::add", 0, {one, other}));
    int32_t late = model.node("MatMul", {x, model.constant(71)}),
            early = model.node("MatMul", {x, model.constant(70)});
    model.graph.outputs.push_back(model.node("Add", {late, early}));
    if (recognised) {
      model.graph.constants[0].parameters = {second};
      model.graph.constants[1].parameters = {first};
    }
    return model;
  };
  EXPECT_EQ(build(true).modules(), (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(build(false).modules(), (std::vector<int32_t>{1, 2, 0}));
  Model model = build(true);
  EXPECT_EQ(align(model.graph, model.program).parametersFound, 2u);
  EXPECT_EQ(align(build(false).graph, model.program).parametersFound, 0u);
}

/// Operators on quantized tensors, by how they are spelled.
TEST(AlignmentRules, QuantizedOperators) {
  EXPECT_EQ(plainOperator("MatMulNBits"), "MatMul");
  EXPECT_EQ(plainOperator("MatMulInteger"), "MatMul");
  EXPECT_EQ(plainOperator("MatMulIntegerToFloat"), "MatMul");
  EXPECT_EQ(plainOperator("DynamicQuantizeMatMul"), "MatMul");
  EXPECT_EQ(plainOperator("QLinearConv"), "Conv");
  EXPECT_EQ(plainOperator("ConvInteger"), "Conv");
  EXPECT_EQ(plainOperator("QGemm"), "Gemm");
  EXPECT_EQ(plainOperator("QAttention"), "Attention");
  EXPECT_EQ(plainOperator("GatherBlockQuantized"), "Gather");
  for (llvm::StringRef other : {"QuickGelu", "QuantizeLinear", "MatMul", "Q",
                                "NBits", "DynamicQuantizeLinear"})
    EXPECT_NE(plainOperator(other), "") << other.str();
  EXPECT_EQ(plainOperator("QuickGelu"), "QuickGelu");
  EXPECT_EQ(plainOperator("QuantizeLinear"), "QuantizeLinear");
}

/// Such a kind reads its parameter as any other does.
TEST(AlignmentRules, UnknownKindsHaveParameters) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("custom::mix", 1, {t}, model.parameter(60));
  model.program.outputs.push_back(
      model.step("custom::mix", 2, {t}, model.parameter(61)));
  x = model.node("Mul", {x, model.constant(60)});
  x = model.node("Mul", {x, model.constant(61)});
  model.graph.outputs.push_back(x);
  Alignment result = align(model.graph, model.program);
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(result.nodes[0].anchored);
  EXPECT_TRUE(result.nodes[1].flags.kind); // and yet nothing is known
}

/// Two modules have tables with equal contents. What goes into one of them is
/// not what they share.
TEST(AlignmentRules, EqualParametersAreNotShared) {
  // 0: root, 1 and 2: positions of two inputs, 3 and 4: what reads them.
  Model model;
  for (int i = 0; i < 2; ++i) {
    int32_t t = model.traceInput();
    t = model.step("aten::ne", 1 + i, {t});
    t = model.step("aten::cumsum", 1 + i, {t});
    t = model.step("aten::index_select", 1 + i, {t}, model.parameter(50));
    t = model.step("aten::linear", 3 + i, {t}, model.parameter(60 + i));
    model.program.outputs.push_back(t);
  }
  int32_t inputs[] = {model.input(), model.input()};
  for (int i = 0; i < 2; ++i) {
    int32_t x = model.node("Equal", {inputs[i]}, ElementKind::Bool);
    x = model.node("Not", {x}, ElementKind::Bool);
    x = model.node("CumSum", {x}, ElementKind::Integer);
    x = model.node("Gather", {model.constant(50), x});
    x = model.node("MatMul", {x, model.constant(60 + i)});
    model.graph.outputs.push_back(x);
  }
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 1, 1, 1, 3, 2, 2, 2, 2, 4}));
}

/// Nodes that a step of the root could have made as well, and sooner, stay
/// where they are, however many there are.
TEST(AlignmentRules, LongStretchesKeepTheirPlace) {
  // 0: root, 1: a layer.
  Model model;
  int32_t t = model.traceInput(), u = model.traceInput();
  int32_t x = model.input(), y = model.input();
  constexpr int kSteps = 300, kNodes = 80;
  model.program.outputs.push_back(model.step("aten::roll", 0, {u}));
  model.graph.outputs.push_back(
      model.node("Concat", {model.node("Slice", {y})}));
  for (int i = 0; i < kSteps; ++i) {
    t = model.step("aten::linear", 1, {t}, model.parameter(100 + i));
    x = model.node("MatMul", {x, model.constant(100 + i)});
  }
  u = model.step("aten::lstm", 1, {u});
  for (int i = 0; i < kNodes; ++i)
    y = model.node(i % 2 ? "Concat" : "Slice", {y});
  model.program.outputs.push_back(model.step("aten::mul", 1, {t, u}));
  model.graph.outputs.push_back(model.node("Mul", {x, y}));
  std::vector<int32_t> expected(model.graph.nodes.size(), 1);
  expected[0] = expected[1] = 0;
  EXPECT_EQ(model.modules({{-1}, {0}}), expected);
}

/// An exporter writes a list of sizes once for each step that reads it, all of
/// them where the list was made first. The list is its reader's.
TEST(AlignmentRules, ListsOfSizesGoWithTheirReaders) {
  // 0: root, 1 and 2: layers with a view each, to sizes of the input.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t size = model.step("aten::size", 0, {t});
  for (int i = 0; i < 2; ++i) {
    t = model.step("aten::linear", 1 + i, {t}, model.parameter(60 + i));
    t = model.step("aten::view", 1 + i, {t, size});
    t = model.step("aten::linear", 1 + i, {t}, model.parameter(70 + i));
  }
  model.program.outputs.push_back(t);
  int32_t s = model.node("Shape", {x}, ElementKind::Integer), lists[2];
  s = model.node("Gather", {s}, ElementKind::Integer);
  x = model.node("MatMul", {x, model.constant(60)});
  for (int32_t &list : lists) {
    int32_t one = model.node("Unsqueeze", {s}, ElementKind::Integer);
    list = model.node("Concat", {one}, ElementKind::Integer);
  }
  for (int i = 0; i < 2; ++i) {
    if (i)
      x = model.node("MatMul", {x, model.constant(60 + i)});
    x = model.node("Reshape", {x, lists[i]});
    x = model.node("MatMul", {x, model.constant(70 + i)});
  }
  model.graph.outputs.push_back(x);
  // Lists: nodes 4 and 6.
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{0, 0, 1, 1, 1, 1, 2, 1, 1, 2, 2, 2}));
}

/// A size that is made of nothing was made for what reads it.
TEST(AlignmentRules, ConstantSizesGoWithTheirReaders) {
  // 0: root, 1: enlarges, 2: pads.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::conv2d", 0, {t}, model.parameter(60));
  t = model.step("aten::upsample_bilinear2d", 1, {t});
  t = model.step("aten::reflection_pad2d", 2, {t});
  model.program.outputs.push_back(
      model.step("aten::conv2d", 0, {t}, model.parameter(61)));
  x = model.node("Conv", {x, model.constant(60)});
  x = model.node("Resize", {x});
  int32_t pads = model.node("ConstantOfShape", {}, ElementKind::Integer);
  pads = model.node("Concat", {pads}, ElementKind::Integer);
  pads = model.node("Reshape", {pads}, ElementKind::Integer);
  pads = model.node("Transpose", {pads}, ElementKind::Integer);
  x = model.node("Pad", {x, pads});
  model.graph.outputs.push_back(model.node("Conv", {x, model.constant(61)}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{0, 1, 2, 2, 2, 2, 2, 0}));
}

/// A batch norm in a product has changed the product's weight; its own node is
/// gone, and what the product makes is the norm's.
static Model foldedNorm(bool folded) {
  // 1: linear, 2: norm, 3: what follows.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("aten::batch_norm", 2, {t}, model.parameter(61));
  t = model.step("aten::relu", 3, {t});
  model.program.outputs.push_back(
      model.step("aten::linear", 3, {t}, model.parameter(62)));
  x = model.node("Gemm", {x, model.constant(folded ? 99 : 60)});
  if (!folded)
    x = model.node("BatchNormalization", {x, model.constant(61)});
  x = model.node("Relu", {x});
  model.graph.outputs.push_back(model.node("Gemm", {x, model.constant(62)}));
  return model;
}

TEST(AlignmentRules, NormFoldedIntoAProduct) {
  EXPECT_EQ(foldedNorm(true).modules(), (std::vector<int32_t>{2, 3, 3}));
  EXPECT_EQ(foldedNorm(false).modules(), (std::vector<int32_t>{1, 2, 3, 3}));
}

/// The bias of a convolution that is a parameter of another module was added
/// there.
TEST(AlignmentRules, BiasOfAnotherModule) {
  // 1: the convolution, 2: adds a parameter of its own, 3: what follows.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::conv1d", 1, {t}, model.parameter(60));
  t = model.step("aten::add", 2, {t}, model.parameter(61));
  t = model.step("aten::conv1d", 3, {t}, model.parameter(62));
  model.program.steps.back().parameters.push_back(model.parameter(63));
  model.program.outputs.push_back(t);
  x = model.node("Conv", {x, model.constant(60), model.constant(61)});
  x = model.node("Conv", {x, model.constant(62), model.constant(63)});
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{2, 3}));
}

/// What is known of a convolution with a norm folded in is known of the
/// convolution.
TEST(AlignmentRules, KnownModuleOfAFoldedConvolution) {
  // 1 and 2: convolutions, 3 and 4: their norms.
  Model model;
  int32_t t = model.traceInput(), x = model.input(), sides[2], nodes[2];
  for (int i = 0; i < 2; ++i) {
    int32_t c = model.step("aten::conv2d", 1 + i, {t}, model.parameter(60 + i));
    sides[i] = model.step("aten::batch_norm", 3 + i, {c});
    nodes[i] = model.node("Conv", {x, model.constant(90 + i)});
    model.graph.constants.back().shape = {4, 2, 2};
    model.graph.nodes.back().prior.module = 2 - i;
  }
  model.program.outputs.push_back(
      model.step("aten::sub", 0, {sides[0], sides[1]}));
  model.graph.outputs.push_back(model.node("Sub", {nodes[1], nodes[0]}));
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{2, 1, 0}));
}

/// Of a view of a view one node is left, and that is the last one's.
TEST(AlignmentRules, MergedViews) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("aten::view", 1, {t});
  t = model.step("aten::contiguous", 1, {t});
  t = model.step("aten::reshape", 2, {t});
  model.program.outputs.push_back(
      model.step("aten::linear", 3, {t}, model.parameter(61)));
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("Reshape", {x});
  model.graph.outputs.push_back(model.node("MatMul", {x, model.constant(61)}));
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{1, 2, 3}));
}

/// A module that needs the sizes of what comes into it takes them itself.
TEST(AlignmentRules, SizesOfWhatComesIn) {
  // 0: root, 1 and 2: layers.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("aten::view", 1, {t});
  t = model.step("aten::linear", 2, {t}, model.parameter(61));
  t = model.step("aten::transpose", 2, {t});
  model.program.outputs.push_back(model.step("aten::view", 2, {t}));
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("Reshape", {x});
  int32_t s = model.node("Shape", {x}, ElementKind::Integer);
  s = model.node("Gather", {s}, ElementKind::Integer);
  x = model.node("MatMul", {x, model.constant(61)});
  x = model.node("Transpose", {x});
  model.graph.outputs.push_back(model.node("Reshape", {x, s}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{1, 1, 2, 2, 2, 2, 2}));
}

/// A size that the program computes in one module for the parts of another
/// stays there.
TEST(AlignmentRules, TakenSizesStay) {
  // 0: root, 1 and 2: stages, 3 and 4: blocks of the second.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  int32_t size = model.step("aten::size", 1, {t});
  size = model.step("aten::add", 1, {size});
  x = model.node("MatMul", {x, model.constant(60)});
  int32_t s = model.node("Shape", {x}, ElementKind::Integer);
  s = model.node("Gather", {s}, ElementKind::Integer);
  s = model.node("Add", {s}, ElementKind::Integer);
  s = model.node("Cast", {s}, ElementKind::Integer);
  for (int i = 0; i < 2; ++i) {
    t = model.step("aten::linear", 3 + i, {t}, model.parameter(61 + i));
    t = model.step("aten::view", 3 + i, {t, size});
    x = model.node("MatMul", {x, model.constant(61 + i)});
    int32_t one = model.node("Unsqueeze", {s}, ElementKind::Integer);
    x = model.node("Reshape", {x, one});
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {2}, {2}}),
            (std::vector<int32_t>{1, 1, 1, 1, 1, 3, 3, 3, 4, 4, 4}));
}

/// What a module makes of such a size is its own, whoever reads it.
TEST(AlignmentRules, WhatIsMadeOfASizeTakenAheadStays) {
  // 0: root, 1: who computes with the size, 2 and 3: who reads the result.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t size = model.step("aten::sym_size", 0, {model.traceInput()});
  model.program.steps.back().unplaced = true;
  int32_t s = model.node("Shape", {model.input()}, ElementKind::Integer);
  s = model.node("Squeeze", {s}, ElementKind::Integer);
  size = model.step("aten::neg", 1, {size});
  s = model.node("Neg", {s}, ElementKind::Integer);
  for (int i = 0; i < 2; ++i) {
    t = model.step("aten::linear", 2 + i, {t}, model.parameter(60 + i));
    t = model.step("aten::view", 2 + i, {t, size});
    x = model.node("MatMul", {x, model.constant(60 + i)});
    x = model.node("Reshape", {x, s});
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}})[2], 1);
}

/// Sizes that the program takes of its inputs before it begins, as torch.export
/// writes them, are for whoever reads them.
TEST(AlignmentRules, SizesTakenAheadGoWithTheirReaders) {
  // 0: root, 1 and 2: layers, each with a cache that is an input.
  for (bool unplaced : {false, true}) {
    Model model;
    int32_t t = model.traceInput(), x = model.input(), sizes[2], s[2];
    for (int32_t &size : sizes) {
      size = model.step("aten::sym_size", 0, {model.traceInput()});
      model.program.steps.back().unplaced = unplaced;
    }
    for (int32_t &size : s) {
      size = model.node("Shape", {model.input()}, ElementKind::Integer);
      size = model.node("Squeeze", {size}, ElementKind::Integer);
    }
    for (int i = 0; i < 2; ++i) {
      t = model.step("aten::linear", 1 + i, {t}, model.parameter(60 + i));
      t = model.step("aten::view", 1 + i, {t, sizes[i]});
      x = model.node("MatMul", {x, model.constant(60 + i)});
      x = model.node("Reshape", {x, s[i]});
    }
    model.program.outputs.push_back(t);
    model.graph.outputs.push_back(x);
    EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
              unplaced ? (std::vector<int32_t>{1, 1, 2, 2, 1, 1, 2, 2})
                       : (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 2, 2}));
  }
}

/// A cast beside a softmax is none of the ops that stand for one.
TEST(AlignmentRules, CastBesideTheMainOp) {
  // 0: root, 1: attention, 2: its dropout.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("aten::softmax", 1, {t});
  t = model.step("aten::dropout", 2, {t});
  model.program.outputs.push_back(
      model.step("aten::linear", 1, {t}, model.parameter(61)));
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("Softmax", {x});
  x = model.node("Cast", {x});
  model.graph.outputs.push_back(model.node("MatMul", {x, model.constant(61)}));
  EXPECT_EQ(model.modules({{-1}, {0}, {1}}),
            (std::vector<int32_t>{1, 1, 1, 1}));
}

/// A trace may count several calls of the root, in which case two steps lie in
/// no common call of it.
TEST(AlignmentRules, RootCalledTwice) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60));
  t = model.step("aten::mul", 0, {t}, -1, 1);
  t = model.step("aten::linear", 2, {t}, model.parameter(61));
  model.program.outputs.push_back(t);
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("Mul", {x, x});
  x = model.node("MatMul", {x, model.constant(61)});
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}), (std::vector<int32_t>{1, 0, 2}));
}

/// Trees that go in circles, and numbers of calls that nobody could have made,
/// cost no more than the program is long.
TEST(AlignmentRules, BrokenTreesEnd) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 1, {t}, model.parameter(60), 1 << 30);
  t = model.step("aten::linear", 2, {t}, model.parameter(61));
  model.program.outputs.push_back(t);
  x = model.node("MatMul", {x, model.constant(60)});
  x = model.node("MatMul", {x, model.constant(61)});
  model.graph.outputs.push_back(x);
  std::vector<int32_t> expected = {1, 2};
  EXPECT_EQ(model.modules({{-1}, {2}, {1}}), expected);
  EXPECT_EQ(model.modules({{-1}, {3, 0}, {3}, {1, 0}}), expected);
  EXPECT_EQ(model.modules({{-1, 1 << 30}, {0, 1 << 30}, {-1}}), expected);
}

} // namespace
