// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AlignmentModel.h"

#include "HTP/Alignment/Alignment.h"
#include "HTP/Alignment/Emission.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {

TEST(Emission, CanonicalKinds) {
  const EmissionTable &table = EmissionTable::get();
  EXPECT_EQ(table.canonical("aten::add_"), "add");
  EXPECT_EQ(table.canonical("aten::add.Tensor"), "add");
  EXPECT_EQ(table.canonical("aten::_convolution"), "conv");
  EXPECT_EQ(table.canonical("onnx::MatMul"), "onnx::MatMul");
}

TEST(Emission, Rules) {
  const EmissionTable &table = EmissionTable::get();
  EXPECT_EQ(table.rule("linear").emits("MatMul"), Emits::Main);
  EXPECT_EQ(table.rule("linear").emits("Softmax"), Emits::Nothing);
  EXPECT_EQ(table.rule("gelu").emits("Erf"), Emits::Part);
  EXPECT_EQ(table.rule("view").emits("Concat"), Emits::Sizes);
  EXPECT_EQ(table.rule("index").emits("Concat"), Emits::Indices);
  // Recurrent layers are one node, or a node of each kind for every time step.
  EXPECT_EQ(table.rule(table.canonical("aten::rnn_tanh")).emits("Tanh"),
            Emits::Part);
  EXPECT_EQ(table.rule("lstm").emits("LSTM"), Emits::Main);
  EXPECT_EQ(table.rule("leaky_relu").emits("LeakyRelu"), Emits::Main);
  EXPECT_EQ(table.rule("leaky_relu").emits("Mul"), Emits::Nothing);
  // Kinds that the table does not list emit the op of their name, or any.
  EXPECT_EQ(table.rule("hard_swish_x").emits("HardSwishX"), Emits::Main);
  EXPECT_EQ(table.rule("hard_swish_x").emits("Mul"), Emits::Perhaps);
  EXPECT_TRUE(table.rule("hard_swish_x").emitsSeveral());
  EXPECT_EQ(table.rule("onnx::Foo").emits("Foo"), Emits::Main);
  EXPECT_EQ(table.fusedFrom("BiasGelu").size(), 2u);
  EXPECT_TRUE(table.fusedFrom("Relu").empty());
}

TEST(Alignment, NothingToAlign) {
  Model model;
  EXPECT_TRUE(align(model.graph, model.program).nodes.empty());
  int32_t x = model.input();
  model.node("Relu", {x});
  EXPECT_EQ(align(model.graph, model.program).nodes[0].best.module, -1);
}

/// layer n: linear (its own parameter), relu, both in module n + 1.
static Model chain(int layers) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  for (int i = 0; i < layers; ++i) {
    t = model.step("aten::linear", i + 1, {t}, model.parameter(100 + i));
    t = model.step("aten::relu", i + 1, {t});
    x = model.node("MatMul", {x, model.constant(100 + i)});
    x = model.node("Relu", {x});
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  return model;
}

TEST(Alignment, ParametersAnchorAndNeighboursFollow) {
  Model model = chain(4);
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Alignment, KnownModulesAnchor) {
  // Two branches that nothing but one known node tells apart.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t a = model.step("aten::relu", 1, {t}),
          b = model.step("aten::relu", 2, {t});
  model.program.outputs.push_back(model.step("aten::add", 0, {a, b}));
  int32_t y = model.node("Relu", {x}), z = model.node("Relu", {x});
  model.graph.outputs.push_back(model.node("Add", {z, y}));
  model.graph.nodes[0].prior.module = 2;
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{2, 1, 0}));
}

TEST(Alignment, CallsOfASharedModule) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t shared = model.parameter(7);
  for (int call = 0; call < 3; ++call) {
    t = model.step("aten::linear", 1, {t}, shared, call);
    t = model.step("aten::tanh", 1, {t}, -1, call);
    x = model.node("MatMul", {x, model.constant(7)});
    x = model.node("Tanh", {x});
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  Alignment result = align(model.graph, model.program);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(result.nodes[i].best.call, i / 2) << i;
}

TEST(Alignment, FusedNodeHasTheModuleOfWhatMakesItsValue) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t norm = model.parameter(9);
  int32_t l = model.step("aten::linear", 1, {t}, model.parameter(8));
  int32_t s = model.step("aten::add", 2, {l, t});
  model.program.outputs.push_back(model.step("aten::layer_norm", 3, {s}, norm));
  int32_t m = model.node("MatMul", {x, model.constant(8)});
  model.graph.outputs.push_back(
      model.node("SkipLayerNormalization", {m, x, model.constant(9)}));
  EXPECT_EQ(model.modules(), (std::vector<int32_t>{1, 3}));
}

/// Two layers, modules 2 and 3, of attention from `e` (traced) and `h` (in the
/// graph). The trace knows nothing of the mask.
static void addMaskedLayers(Model &model, int32_t e, int32_t h, int32_t mask) {
  for (int i = 0; i < 2; ++i) {
    int32_t q = model.step("aten::linear", 2 + i, {e}, model.parameter(60 + i));
    int32_t a = model.step("aten::scaled_dot_product_attention", 2 + i, {q});
    e = model.step("aten::linear", 2 + i, {a}, model.parameter(70 + i));
    int32_t nq = model.node("MatMul", {h, model.constant(60 + i)});
    int32_t nw = model.node("Where", {mask, nq});
    int32_t ns = model.node("Softmax", {nw});
    h = model.node("MatMul", {ns, model.constant(70 + i)});
  }
  model.program.outputs.push_back(e);
  model.graph.outputs.push_back(h);
}

/// A mask that is made once, from an input, and read by every layer is not
/// the first layer's.
TEST(Alignment, WhatLayersShareIsNotTheFirstOnes) {
  // 0: root, 1: layers, 2 and 3: layer 0 and 1. The trace has folded the mask.
  Model model;
  int32_t t = model.traceInput(), tm = model.traceInput();
  int32_t x = model.input(), xm = model.input();
  (void)tm;
  int32_t e = model.step("aten::embedding", 4, {t}, model.parameter(50));
  int32_t h = model.node("Gather", {model.constant(50), x});
  int32_t mask = model.node("Cast", {xm}, ElementKind::Bool);
  mask = model.node("Not", {mask}, ElementKind::Bool);
  addMaskedLayers(model, e, h, mask);
  std::vector<int32_t> found = model.modules({{-1}, {0}, {1}, {1}, {0}});
  EXPECT_EQ(found[0], 4);
  EXPECT_TRUE(found[1] == 0 || found[1] == 1) << found[1];
  EXPECT_TRUE(found[2] == 0 || found[2] == 1) << found[2];
  EXPECT_EQ(found[4], 2);
  EXPECT_EQ(found[8], 3);
}

/// The same where the layers are one shared module that runs twice.
TEST(Alignment, WhatCallsShareIsNotTheFirstOnes) {
  // 0: root, 1: layers, 2: the shared layer, 3: embeddings.
  Model model;
  int32_t t = model.traceInput(), tm = model.traceInput();
  int32_t x = model.input(), xm = model.input();
  (void)tm;
  int32_t e = model.step("aten::embedding", 3, {t}, model.parameter(50));
  int32_t h = model.node("Gather", {model.constant(50), x});
  int32_t mask = model.node("Cast", {xm}, ElementKind::Bool);
  mask = model.node("Not", {mask}, ElementKind::Bool);
  int32_t in = model.parameter(60), out = model.parameter(70);
  for (int call = 0; call < 2; ++call) {
    int32_t q = model.step("aten::linear", 2, {e}, in, call);
    int32_t a =
        model.step("aten::scaled_dot_product_attention", 2, {q}, -1, call);
    e = model.step("aten::linear", 2, {a}, out, call);
    int32_t nq = model.node("MatMul", {h, model.constant(60)});
    int32_t nw = model.node("Where", {mask, nq});
    int32_t ns = model.node("Softmax", {nw});
    h = model.node("MatMul", {ns, model.constant(70)});
  }
  model.program.outputs.push_back(e);
  model.graph.outputs.push_back(h);
  EXPECT_EQ(model.modules({{-1}, {0}, {1, 2}, {0}}),
            (std::vector<int32_t>{3, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2}));
}

/// A program that ran with fixed sizes does not say that what it counts comes
/// from a tensor's shape; that must not speak against its own steps.
TEST(Alignment, WaysThroughShapesAreNotNeeded) {
  // 0: root, 1: embeddings, 2: positions, 3 and 4: layers.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t e = model.step("aten::embedding", 1, {t}, model.parameter(50));
  int32_t c = model.step("aten::arange", 0, {});
  c = model.step("aten::cos", 2, {c});
  c = model.step("aten::neg", 2, {c});
  int32_t h = model.node("Gather", {model.constant(50), x});
  int32_t s = model.node("Shape", {h}, ElementKind::Integer);
  s = model.node("Range", {s}, ElementKind::Integer);
  s = model.node("Cos", {s});
  s = model.node("Neg", {s});
  for (int i = 0; i < 2; ++i) {
    e = model.step("aten::linear", 3 + i, {e}, model.parameter(60 + i));
    e = model.step("aten::mul", 3 + i, {e, c});
    h = model.node("MatMul", {h, model.constant(60 + i)});
    h = model.node("Mul", {h, s});
  }
  model.program.outputs.push_back(e);
  model.graph.outputs.push_back(h);
  std::vector<int32_t> found = model.modules({{-1}, {0}, {0}, {0}, {0}});
  EXPECT_EQ(found[2], 0); // Range
  EXPECT_EQ(found[3], 2); // Cos
  EXPECT_EQ(found[4], 2); // Neg
}

/// Sizes that the program did not take belong where they are needed, however
/// early they were taken.
TEST(Alignment, SizesGoWithTheirReaders) {
  // 0: root, 1 and 2: layers that view their results too.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  for (int i = 0; i < 2; ++i) {
    t = model.step("aten::linear", 1 + i, {t}, model.parameter(60 + i));
    t = model.step("aten::view", 1 + i, {t});
  }
  model.program.outputs.push_back(model.step("aten::view", 0, {t}));
  int32_t early = model.node("Shape", {x}, ElementKind::Integer);
  for (int i = 0; i < 2; ++i) {
    x = model.node("MatMul", {x, model.constant(60 + i)});
    int32_t s = model.node("Shape", {x}, ElementKind::Integer);
    x = model.node("Reshape", {x, s});
  }
  model.graph.outputs.push_back(model.node("Reshape", {x, early}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{0, 1, 1, 1, 2, 2, 2, 0}));
}

/// Whoever takes the size of a tensor sees that tensor.
TEST(Alignment, SizesAreTakenInSightOfTheirTensor) {
  // 0: root, 1: stem, 2: the stem's projection, 3: head.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::linear", 2, {t}, model.parameter(60));
  t = model.step("aten::relu", 1, {t});
  t = model.step("aten::view", 0, {t});
  t = model.step("aten::linear", 3, {t}, model.parameter(61));
  model.program.outputs.push_back(model.step("aten::view", 0, {t}));
  x = model.node("MatMul", {x, model.constant(60)});
  int32_t s = model.node("Shape", {x}, ElementKind::Integer);
  x = model.node("Relu", {x});
  x = model.node("Reshape", {x, s});
  x = model.node("MatMul", {x, model.constant(61)});
  model.graph.outputs.push_back(model.node("Reshape", {x, s}));
  EXPECT_EQ(model.modules({{-1}, {0}, {1}, {0}}),
            (std::vector<int32_t>{2, 1, 1, 0, 3, 0}));
}

/// What an optimizer merged out of a step of each layer is what they share.
static Model mergedMask(bool sharedLayer) {
  // 0: root, 1: encoder, 2: layers, 3 and 4 the layers or 3 their one module.
  Model model;
  int32_t t = model.traceInput(), tm = model.traceInput();
  int32_t x = model.input(), xm = model.input();
  int32_t e = model.step("aten::embedding", 5, {t}, model.parameter(50));
  tm = model.step("aten::bitwise_not", 0, {tm});
  int32_t in = model.parameter(60), out = model.parameter(70);
  int32_t h = model.node("Gather", {model.constant(50), x});
  xm = model.node("Not", {xm}, ElementKind::Bool);
  xm = model.node("Where", {xm});
  for (int i = 0; i < 2; ++i) {
    int32_t module = sharedLayer ? 3 : 3 + i, call = sharedLayer ? i : 0;
    int32_t q = model.step("aten::linear", module, {e},
                           sharedLayer ? in : model.parameter(61 + i), call);
    int32_t a = model.step("aten::scaled_dot_product_attention", module,
                           {q, tm}, -1, call);
    e = model.step("aten::linear", module, {a},
                   sharedLayer ? out : model.parameter(71 + i), call);
    int32_t nq =
        model.node("MatMul", {h, model.constant(sharedLayer ? 60 : 61 + i)});
    int32_t nw = model.node("Add", {nq, xm});
    int32_t ns = model.node("Softmax", {nw});
    h = model.node("MatMul", {ns, model.constant(sharedLayer ? 70 : 71 + i)});
  }
  model.program.outputs.push_back(e);
  model.graph.outputs.push_back(h);
  return model;
}

TEST(Alignment, MergedPartsAreShared) {
  Model model = mergedMask(/*sharedLayer=*/false);
  std::vector<int32_t> found =
      model.modules({{-1}, {0}, {1, 0}, {2}, {2}, {0}});
  EXPECT_EQ(found[1], 0); // Not
  EXPECT_EQ(found[2], 1); // Where
}

TEST(Alignment, MergedPartsOfOneModuleAreItsOwn) {
  Model model = mergedMask(/*sharedLayer=*/true);
  std::vector<int32_t> found =
      model.modules({{-1}, {0}, {1, 0}, {2, 2}, {2, 0}, {0}});
  EXPECT_EQ(found[1], 0); // Not
  EXPECT_EQ(found[2], 3); // Where
}

/// What the trace has folded away and was made of sizes alone was made by the
/// module whose parts read it, not by one further up.
TEST(Alignment, WhatIsMadeOfSizesIsMadeNearItsReaders) {
  // 0: root, 1: encoder, 2 and 3: its layers, 4: embeddings.
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t e = model.step("aten::embedding", 4, {t}, model.parameter(50));
  int32_t h = model.node("Gather", {model.constant(50), x});
  int32_t mask = model.node("Shape", {x}, ElementKind::Integer);
  mask = model.node("Range", {mask}, ElementKind::Integer);
  mask = model.node("GreaterOrEqual", {mask}, ElementKind::Bool);
  addMaskedLayers(model, e, h, mask);
  std::vector<int32_t> found = model.modules({{-1}, {0}, {1}, {1}, {0}});
  EXPECT_EQ(found[2], 1); // Range
  EXPECT_EQ(found[3], 1); // GreaterOrEqual
}

/// The biases of a model that was not trained are all zero: they tell nothing,
/// and each is compared with no more than a few.
TEST(Alignment, ThousandsOfEqualParameters) {
  Model model;
  int32_t t = model.traceInput(), x = model.input();
  constexpr int kLayers = 1500;
  std::vector<int32_t> expected;
  for (int i = 0; i < kLayers; ++i) {
    t = model.step("aten::matmul", i, {t}, model.parameter(1000 + i));
    t = model.step("aten::add", i, {t}, model.parameter(7));
    x = model.node("MatMul", {x, model.constant(1000 + i)});
    x = model.node("Add", {x, model.constant(7)});
    expected.insert(expected.end(), 2, i);
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules(), expected);
}

TEST(Alignment, SameAnswerOnEveryRun) {
  Model model = chain(50);
  Alignment first = align(model.graph, model.program);
  for (int run = 0; run < 3; ++run) {
    Alignment again = align(model.graph, model.program);
    for (size_t i = 0; i < first.nodes.size(); ++i) {
      EXPECT_EQ(first.nodes[i].step, again.nodes[i].step);
      EXPECT_EQ(first.nodes[i].best.weight, again.nodes[i].best.weight);
    }
  }
}

TEST(Alignment, AnotherModelShows) {
  Model model = chain(4);
  for (TensorContent &content : model.graph.constants)
    content.values += 1000;
  Alignment result = align(model.graph, model.program);
  EXPECT_EQ(result.parameters, 4u);
  EXPECT_EQ(result.parametersFound, 0u);
}

/// A trace without weights knows no contents: what the model holds is neither
/// found among them, nor a sign of another model.
TEST(Alignment, ContentsThatNobodyKnows) {
  Model model = chain(4);
  for (Program::Parameter &parameter : model.program.parameters)
    parameter.content.values = 0;
  for (TensorContent &content : model.graph.constants)
    content.values = 0;
  Alignment result = align(model.graph, model.program);
  EXPECT_EQ(result.parameters, 0u);
  EXPECT_EQ(result.parametersFound, 0u);
  for (auto [index, node] : llvm::enumerate(result.nodes))
    EXPECT_EQ(node.best.module, int32_t(index / 2 + 1));
}

} // namespace
