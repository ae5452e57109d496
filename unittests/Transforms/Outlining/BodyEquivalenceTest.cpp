// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function bodies are equal, and how their arguments correspond.

#include "Outlining/BodyEquivalence.h"

#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {

using Arguments = std::optional<SmallVector<unsigned>>;

class BodyEquivalence : public testing::Test {
protected:
  BodyEquivalence() {
    context.loadDialect<HTPDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  /// Matches the bodies of two functions of two tensors. Matching bodies must
  /// have equal hashes, as they are only compared then.
  Arguments match(StringRef a, StringRef b, bool looseTypes = false) {
    OwningOpRef<mlir::ModuleOp> left = parse(a), right = parse(b);
    if (!left || !right) {
      ADD_FAILURE() << "not MLIR";
      return std::nullopt;
    }
    Block &first = bodyOf(*left), &second = bodyOf(*right);
    Arguments found = matchBodies(first, second, looseTypes);
    EXPECT_EQ(matchBodies(second, first, looseTypes).has_value(),
              found.has_value());
    if (found)
      EXPECT_EQ(hashBody(first, looseTypes), hashBody(second, looseTypes));
    return found;
  }
  bool equal(StringRef a, StringRef b, bool looseTypes = false) {
    return match(a, b, looseTypes).has_value();
  }

  /// A body with one line that returns its value.
  static std::string body(StringRef line) {
    return (line + "\n return %r : tensor<2xf32>").str();
  }

private:
  OwningOpRef<mlir::ModuleOp> parse(StringRef lines) {
    return parseSourceString<mlir::ModuleOp>(
        ("func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> "
         "{\n" +
         lines + "\n}")
            .str(),
        &context);
  }
  static Block &bodyOf(mlir::ModuleOp module) {
    return (*module.getOps<func::FuncOp>().begin()).front();
  }

  MLIRContext context;
};

const char *const kTwoOps = R"mlir(
  %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "d.sub"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>)mlir";

} // namespace

TEST_F(BodyEquivalence, EqualBodiesReadTheSameArguments) {
  EXPECT_EQ(match(kTwoOps, kTwoOps), Arguments({0, 1}));
}

TEST_F(BodyEquivalence, NamesTagsAndLocationsDoNotMatter) {
  EXPECT_TRUE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) {htp.tag = #htp.tag<"layer.1">, onnx_node_name = "n",
        onnx.doc_string = "text"}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("elsewhere")
    %1 = "d.sub"(%0, %x) {onnx_output_names = ["a"]}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>)mlir"));
}

TEST_F(BodyEquivalence, ArgumentsMayComeInAnotherOrder) {
  EXPECT_EQ(match(kTwoOps, R"mlir(
    %0 = "d.mul"(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "d.sub"(%0, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>)mlir"),
            Arguments({1, 0}));
}

TEST_F(BodyEquivalence, ADifferentWireDiffers) {
  // The second op reads %y, which the first one read as its second operand.
  EXPECT_FALSE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "d.sub"(%0, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>)mlir"));
  // A different value is returned.
  EXPECT_FALSE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "d.sub"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>)mlir"));
}

TEST_F(BodyEquivalence, TheOrderOfOperandsMatters) {
  EXPECT_FALSE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "d.sub"(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>)mlir"));
}

TEST_F(BodyEquivalence, OneOpMoreOrOfAnotherNameDiffers) {
  EXPECT_FALSE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>)mlir"));
  EXPECT_FALSE(equal(kTwoOps, R"mlir(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "d.add"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>)mlir"));
}

TEST_F(BodyEquivalence, AnUnreadArgumentHasNoPartner) {
  std::string twice = body(
      R"(%r = "d.mul"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)");
  EXPECT_FALSE(equal(twice, twice));
}

TEST_F(BodyEquivalence, OneAttributeDiffers) {
  std::string a = R"(
    %0 = "d.mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %r = "d.pow"(%0) {by = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>)";
  std::string b = a, without = a;
  b.replace(b.find("by = 2"), 6, "by = 3");
  without.erase(without.find("{by"), strlen("{by = 2 : i64}"));
  EXPECT_TRUE(equal(body(a), body(a)));
  EXPECT_FALSE(equal(body(a), body(b)));
  EXPECT_FALSE(equal(body(a), body(without)));
}

TEST_F(BodyEquivalence, TheDomainOfAnOperatorIsNoMereName) {
  auto inDomain = [](StringRef domain) {
    return body(("%r = \"onnx.F\"(%x, %y) {onnx.domain = \"" + domain +
                 "\"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>")
                    .str());
  };
  EXPECT_TRUE(equal(inDomain("a"), inDomain("a")));
  EXPECT_FALSE(equal(inDomain("a"), inDomain("b")));
}

TEST_F(BodyEquivalence, OneTypeDiffers) {
  auto through = [](StringRef type) {
    return body(("%0 = \"d.a\"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> " +
                 type + "\n %r = \"d.b\"(%0) : (" + type + ") -> tensor<2xf32>")
                    .str());
  };
  EXPECT_FALSE(equal(through("tensor<4xf32>"), through("tensor<4xi64>")));
  EXPECT_FALSE(equal(through("tensor<4xf32>"), through("tensor<?xf32>")));
  // More precise shapes in one of them do not matter.
  EXPECT_TRUE(equal(through("tensor<4xf32>"), through("tensor<?xf32>"), true));
  EXPECT_TRUE(equal(through("tensor<4xf32>"), through("tensor<*xf32>"), true));
  // Contradictory shapes and different element types do.
  EXPECT_FALSE(equal(through("tensor<4xf32>"), through("tensor<8xf32>"), true));
  EXPECT_FALSE(equal(through("tensor<4xf32>"), through("tensor<?xi64>"), true));
}

TEST_F(BodyEquivalence, NestedRegionsAreCompared) {
  auto branch = [](StringRef inside, StringRef argument = "tensor<2xf32>") {
    return body(("%r = \"d.loop\"(%x, %y) ({\n ^bb0(%i: " + argument +
                 "):\n %0 = " + inside +
                 " -> tensor<2xf32>\n \"d.yield\"(%0) : (tensor<2xf32>) -> ()\n"
                 "}) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>")
                    .str());
  };
  std::string neg = branch(R"("d.neg"(%x) : (tensor<2xf32>))");
  EXPECT_TRUE(equal(neg, neg));
  EXPECT_FALSE(equal(neg, branch(R"("d.abs"(%x) : (tensor<2xf32>))")));
  // A different outer value, the block's own argument, a different attribute.
  EXPECT_FALSE(equal(neg, branch(R"("d.neg"(%y) : (tensor<2xf32>))")));
  EXPECT_FALSE(equal(neg, branch(R"("d.neg"(%i) : (tensor<2xf32>))")));
  EXPECT_FALSE(equal(neg, branch(R"("d.neg"(%x) {a} : (tensor<2xf32>))")));
  EXPECT_FALSE(
      equal(neg, branch(R"("d.neg"(%x) : (tensor<2xf32>))", "tensor<3xf32>")));
  // Types of block arguments must be equal, even with loose types.
  EXPECT_FALSE(equal(
      neg, branch(R"("d.neg"(%x) : (tensor<2xf32>))", "tensor<?xf32>"), true));
}

TEST_F(BodyEquivalence, WithoutItsRegionAnOpDiffers) {
  EXPECT_FALSE(equal(body(R"(%r = "d.if"(%x, %y) ({ "d.yield"() : () -> () })
             : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)"),
                     body(R"(%r = "d.if"(%x, %y) ({ })
             : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)")));
}
