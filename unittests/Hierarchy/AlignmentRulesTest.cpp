// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What exporters and optimizers do to single nodes.

#include "AlignmentModel.h"

#include "gtest/gtest.h"

using namespace htp;

namespace {

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

} // namespace
