// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emission table: what its notation means, and that no row is lost because
// another one says something about the same kind.

#include "HTP/Alignment/Emission.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "gtest/gtest.h"

using namespace htp;
using llvm::StringRef;

namespace {

struct Row {
  StringRef kinds, ops;
};

llvm::SmallVector<StringRef> words(StringRef text) {
  llvm::SmallVector<StringRef> found;
  text.split(found, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return found;
}

const Row kEmissions[] = {
#define HTP_EMISSION(kinds, main, parts) {kinds, main " " parts},
#include "Alignment/EmissionTable.inc"
};
const Row kAliases[] = {
#define HTP_ALIAS(kind, names) {kind, names},
#include "Alignment/EmissionTable.inc"
};
const Row kFused[] = {
#define HTP_FUSED(op, replaced) {op, replaced},
#include "Alignment/EmissionTable.inc"
};
const Row kRewrites[] = {
#define HTP_REWRITE(ops, main, parts) {ops, main " " parts},
#include "Alignment/EmissionTable.inc"
};

/// The words that occur more often than once on the left side of rows.
template <size_t N> std::string listedTwice(const Row (&rows)[N]) {
  llvm::StringMap<int> times;
  std::string twice;
  for (const Row &row : rows)
    for (StringRef kind : words(row.kinds))
      if (++times[kind.rtrim("*!")] == 2)
        twice += kind.str() + " ";
  return twice;
}

} // namespace

/// The last row of a kind would replace the others without a word.
TEST(EmissionTable, EveryKindHasOneRow) {
  EXPECT_EQ(listedTwice(kEmissions), "");
  EXPECT_EQ(listedTwice(kFused), "");
  EXPECT_EQ(listedTwice(kRewrites), "");
}

/// A row for a name that stands for another kind would never be read.
TEST(EmissionTable, NoRowIsForAnAlias) {
  const EmissionTable &table = EmissionTable::get();
  for (const Row &row : kEmissions)
    for (StringRef kind : words(row.kinds))
      EXPECT_EQ(table.canonical(kind.rtrim("*!")), kind.rtrim("*!"));
}

TEST(EmissionTable, AliasesStandForKindsOfTheTable) {
  const EmissionTable &table = EmissionTable::get();
  llvm::StringMap<int> times;
  for (const Row &row : kAliases)
    for (StringRef name : words(row.ops)) {
      EXPECT_EQ(table.canonical(name), row.kinds) << name.str();
      EXPECT_EQ(++times[name], 1) << name.str();
      EXPECT_NE(name, row.kinds);
    }
}

/// An op that is listed twice in a row is what it was listed as first, so that
/// whoever wrote the second meant something else.
TEST(EmissionTable, NoOpIsListedTwiceInARow) {
  for (llvm::ArrayRef<Row> rows :
       {llvm::ArrayRef(kEmissions), llvm::ArrayRef(kRewrites)})
    for (const Row &row : rows) {
      llvm::StringMap<int> times;
      for (StringRef op : words(row.ops))
        EXPECT_EQ(++times[op], 1) << row.kinds.str() << ": " << op.str();
    }
}

TEST(EmissionTable, WhatTheMarksMean) {
  const EmissionTable &table = EmissionTable::get();
  EmissionRule linear = table.rule("linear");
  EXPECT_TRUE(linear.many);
  EXPECT_FALSE(linear.instead);
  EXPECT_EQ(linear.emits("MatMul"), Emits::Main);
  EXPECT_EQ(linear.emits("Transpose"), Emits::Part);
  EXPECT_EQ(linear.emits("GemmReshape"), Emits::Wrap);
  EXPECT_EQ(linear.emits("Softmax"), Emits::Nothing);
  EmissionRule norm = table.rule("layer_norm");
  EXPECT_TRUE(norm.instead);
  EXPECT_FALSE(norm.many);
  EXPECT_TRUE(norm.emitsSeveral()); // its parts
  EXPECT_FALSE(table.rule("transpose").emitsSeveral());
  EXPECT_EQ(table.rule("view").emits("Shape"), Emits::Sizes);
  EXPECT_EQ(table.rule("index").emits("Shape"), Emits::Indices);
  EXPECT_TRUE(table.rule("view").sizes);
  EXPECT_FALSE(linear.sizes);
}

/// An op of a graph makes itself, and nothing else unless a row says so. (Of a
/// traced kind without a row anything may be; see AlignmentTest.cpp.)
TEST(EmissionTable, OpsOfAGraph) {
  EmissionRule own = EmissionTable::get().rule("onnx::NobodyKnows");
  EXPECT_FALSE(own.unknown);
  EXPECT_EQ(own.emits("NobodyKnows"), Emits::Main);
  EXPECT_EQ(own.emits("Relu"), Emits::Nothing);
  EmissionRule gemm = EmissionTable::get().rule("onnx::Gemm");
  EXPECT_EQ(gemm.emits("Gemm"), Emits::Main);
  EXPECT_EQ(gemm.emits("MatMul"), Emits::Main);
  EXPECT_EQ(gemm.emits("Transpose"), Emits::Part);
}

TEST(EmissionTable, SpellingsOfOneKind) {
  const EmissionTable &table = EmissionTable::get();
  for (StringRef kind : {"add", "add_", "aten::add", "aten::add.Tensor",
                         "aten::add_.Scalar", "torch.ops.aten::add"})
    EXPECT_EQ(table.canonical(kind), "add") << kind.str();
  EXPECT_EQ(table.canonical("aten::multiply"), "mul");
  EXPECT_EQ(table.canonical("aten::multiply_"), "mul");
  // Ops of a graph are spelled in one way only.
  EXPECT_EQ(table.canonical("onnx::Add.x"), "onnx::Add.x");
}

/// Names that only sound like those of quantized operators.
TEST(EmissionTable, OperatorsThatStandForThemselves) {
  for (StringRef op : {"QuickGelu", "QuantizeLinear", "Integer", "Q", ""})
    EXPECT_EQ(plainOperator(op), op) << op.str();
}
