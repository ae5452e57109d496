// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for nodes whose readers say more than order and dataflow: changes of
// precision, sizes, nodes that were placed where nothing of them is, and the
// reshapes around products.

#include "AlignmentModel.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {

/// A layer's linear step with its parameters, and the product of the graph.
struct Layers : Model {
  int32_t linear(int32_t module, int32_t value, uint64_t number) {
    int32_t result = step("aten::linear", module, {value}, parameter(number));
    program.steps.back().parameters.push_back(parameter(number + 100));
    return result;
  }
  int32_t gemm(int32_t value, uint64_t number) {
    return node("Gemm", {value, constant(number), constant(number + 100)});
  }
  /// A node that makes floats of this many bits.
  int32_t floats(llvm::StringRef op, std::initializer_list<int32_t> inputs,
                 unsigned bits) {
    int32_t value = node(op, inputs);
    graph.values[value].bits = bits;
    return value;
  }
};

//===----------------------------------------------------------------------===//
// Changes of precision
//===----------------------------------------------------------------------===//

/// A converter widens what an operator needs that runs in higher precision, and
/// narrows what that made: both casts are the operator's.
TEST(AlignmentReaders, CastsOfAConverterGoWithTheWiderOp) {
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.linear(1, t, 60);
  t = model.step("aten::softmax", 2, {t});
  model.program.outputs.push_back(model.linear(3, t, 61));
  x = model.floats("Gemm", {x, model.constant(60), model.constant(160)}, 16);
  x = model.floats("Cast", {x}, 32);
  x = model.floats("Softmax", {x}, 32);
  x = model.floats("Cast", {x}, 16);
  model.graph.outputs.push_back(model.gemm(x, 61));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 2, 2, 2, 3}));
}

/// Where the program changes the precision itself, its step has the node.
TEST(AlignmentReaders, CastsOfTheProgramStay) {
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.linear(1, t, 60);
  t = model.step("aten::to", 1, {t});
  t = model.step("aten::softmax", 2, {t});
  model.program.outputs.push_back(model.linear(3, t, 61));
  x = model.floats("Gemm", {x, model.constant(60), model.constant(160)}, 16);
  x = model.floats("Cast", {x}, 32);
  x = model.floats("Softmax", {x}, 32);
  model.graph.outputs.push_back(model.gemm(x, 61));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 1, 2, 3}));
}

/// A cast that several modules read is what they have in common; one of an
/// argument has no maker, so that even a narrowing one is its readers'.
TEST(AlignmentReaders, CastsThatSeveralRead) {
  // 0: root, 1: a block, 2 and 3: its layers.
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  model.graph.values[x].bits = 32;
  model.graph.values[x].kind = ElementKind::Float;
  int32_t cast = model.floats("Cast", {x}, 16);
  for (int i = 0; i < 2; ++i) {
    model.program.outputs.push_back(model.linear(2 + i, t, 60 + i));
    model.graph.outputs.push_back(model.gemm(cast, 60 + i));
  }
  EXPECT_EQ(model.modules({{-1}, {0}, {1}, {1}}),
            (std::vector<int32_t>{1, 2, 3}));
}

//===----------------------------------------------------------------------===//
// Nodes without a step of their own
//===----------------------------------------------------------------------===//

/// The only step that makes such a node is in another module, on another way
/// through the program: the node is not put there, beside nothing of its own.
TEST(AlignmentReaders, NotWhereASimilarStepHappensToBe) {
  // 0: root, 1 and 2: branches.
  Layers model;
  int32_t t = model.traceInput(), u = model.traceInput();
  t = model.linear(1, t, 60);
  model.program.outputs.push_back(model.step("aten::erf", 1, {t}));
  model.program.outputs.push_back(model.linear(2, u, 61));
  int32_t x = model.input(), y = model.input();
  model.graph.outputs.push_back(model.gemm(x, 60));
  y = model.node("Erf", {y});
  model.graph.outputs.push_back(model.gemm(y, 61));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}), (std::vector<int32_t>{1, 2, 2}));
}

/// The step fits the node's kind and its place in the file, but no way leads
/// from there to what reads the node.
TEST(AlignmentReaders, NotWhereNoWayLeadsToItsReader) {
  // 0: root, 1 and 2: branches.
  Layers model;
  int32_t t = model.traceInput(), u = model.traceInput();
  int32_t x = model.input(), y = model.input();
  t = model.linear(1, t, 60);
  t = model.step("aten::sqrt", 1, {t});
  model.program.outputs.push_back(model.linear(1, t, 61));
  u = model.step("aten::mul", 2, {u});
  model.program.outputs.push_back(model.linear(2, u, 62));
  x = model.gemm(x, 60);
  int32_t root = model.node("Sqrt", {model.constant(70)});
  model.graph.outputs.push_back(model.gemm(x, 61));
  y = model.node("Mul", {y, root});
  model.graph.outputs.push_back(model.gemm(y, 62));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{1, 2, 1, 2, 2}));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// If several layers need a size of an argument that the program never took,
/// it was not taken in the first of them for all.
TEST(AlignmentReaders, SizesOfAnArgumentForSeveral) {
  // 0: root, 1 and 2: layers.
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  int32_t s = model.node("Shape", {x}, ElementKind::Integer);
  s = model.node("Gather", {s}, ElementKind::Integer);
  for (int i = 0; i < 2; ++i) {
    t = model.linear(1 + i, t, 60 + i);
    t = model.step("aten::view", 1 + i, {t});
    x = model.gemm(x, 60 + i);
    x = model.node("Reshape", {x, s});
  }
  model.program.outputs.push_back(t);
  model.graph.outputs.push_back(x);
  EXPECT_EQ(model.modules({{-1}, {0}, {0}}),
            (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
}

//===----------------------------------------------------------------------===//
// Reshapes around products
//===----------------------------------------------------------------------===//

/// An optimizer makes a Gemm of MatMul and Add, and reshapes what goes in and
/// what comes out: all of that is the linear layer's.
TEST(AlignmentReaders, ReshapesAroundAProduct) {
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::relu", 1, {t});
  t = model.linear(2, t, 60);
  model.program.outputs.push_back(model.step("aten::relu", 3, {t}));
  x = model.node("Relu", {x});
  x = model.node("Reshape", {x});
  x = model.gemm(x, 60);
  x = model.node("Reshape", {x});
  model.graph.outputs.push_back(model.node("Relu", {x}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 2, 2, 2, 3}));
}

/// A view of the model before the product keeps its own node, and the
/// optimizer's reshape is the product's all the same.
TEST(AlignmentReaders, ReshapesBesideAView) {
  Layers model;
  int32_t t = model.traceInput(), x = model.input();
  t = model.step("aten::relu", 1, {t});
  t = model.step("aten::view", 1, {t});
  t = model.linear(2, t, 60);
  t = model.step("aten::view", 3, {t});
  model.program.outputs.push_back(model.step("aten::relu", 3, {t}));
  x = model.node("Relu", {x});
  x = model.node("Reshape", {x});
  x = model.node("Reshape", {x});
  x = model.gemm(x, 60);
  x = model.node("Reshape", {x});
  x = model.node("Reshape", {x});
  model.graph.outputs.push_back(model.node("Relu", {x}));
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
            (std::vector<int32_t>{1, 1, 2, 2, 2, 3, 3}));
}

/// An operand that was reshaped once for several products belongs to what
/// these share.
TEST(AlignmentReaders, OneReshapeForSeveralProducts) {
  // 0: root, 1: what comes before, 2: attention, 3 to 5: its projections.
  Layers model;
  int32_t t = model.linear(1, model.traceInput(), 50);
  int32_t x = model.node("Reshape", {model.gemm(model.input(), 50)});
  for (int i = 0; i < 3; ++i) {
    model.program.outputs.push_back(model.linear(3 + i, t, 60 + i));
    model.graph.outputs.push_back(
        model.node("Reshape", {model.gemm(x, 60 + i)}));
  }
  // The first reshape undoes what was done to the operand of the first product.
  EXPECT_EQ(model.modules({{-1}, {0}, {0}, {2}, {2}, {2}}),
            (std::vector<int32_t>{1, 1, 3, 3, 4, 4, 5, 5}));

  // Beside something that is no product.
  Layers other;
  t = other.step("aten::layer_norm", 1, {other.traceInput()},
                 other.parameter(50));
  x = other.node("LayerNormalization", {other.input(), other.constant(50)});
  x = other.node("Reshape", {x});
  for (int i = 0; i < 3; ++i) {
    other.program.outputs.push_back(other.linear(3 + i, t, 60 + i));
    other.graph.outputs.push_back(
        other.node("Reshape", {other.gemm(x, 60 + i)}));
  }
  EXPECT_EQ(other.modules({{-1}, {0}, {0}, {2}, {2}, {2}}),
            (std::vector<int32_t>{1, 2, 3, 3, 4, 4, 5, 5}));
}

/// If the result has another shape than the product's step, the optimizer's
/// reshape was merged with a view that follows, which has the node then.
TEST(AlignmentReaders, AReshapeThatTookAViewIn) {
  for (bool merged : {false, true}) {
    Layers model;
    int32_t t = model.traceInput(), x = model.input();
    t = model.linear(1, t, 60);
    model.program.values[t].hasShape = true;
    model.program.values[t].shape = {2, 3, 8};
    if (merged) {
      t = model.step("aten::view", 2, {t});
      model.program.values[t].hasShape = true;
      model.program.values[t].shape = {2, 3, 4, 2};
    }
    t = model.step("aten::softmax", 2, {t});
    model.program.outputs.push_back(model.linear(3, t, 61));
    x = model.node("Reshape", {model.gemm(x, 60)});
    model.graph.values[x].hasShape = true;
    model.graph.values[x].shape =
        merged ? llvm::SmallVector<int64_t, 4>{2, 3, 4, 2}
               : llvm::SmallVector<int64_t, 4>{2, 3, 8};
    x = model.node("Softmax", {x});
    model.graph.outputs.push_back(model.gemm(x, 61));
    EXPECT_EQ(model.modules({{-1}, {0}, {0}, {0}}),
              (std::vector<int32_t>{1, merged ? 2 : 1, 2, 3}));
  }
}

} // namespace
