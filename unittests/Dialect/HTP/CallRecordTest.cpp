// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relative and absolute paths, differences between ops, and runs of positions.

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {
struct CallRecord : testing::Test {
  CallRecord() {
    context.loadDialect<HTPDialect>();
    context.allowUnregisteredDialects();
  }

  OwningOpRef<Operation *> makeOp(ArrayRef<NamedAttribute> attributes) {
    OperationState state(UnknownLoc::get(&context), "d.op");
    state.addAttributes(attributes);
    return Operation::create(state);
  }
  NamedAttribute text(StringRef name, StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  }

  MLIRContext context;
  Builder builder{&context};
};
} // namespace

TEST(ModuleFrame, ComparesAsItConverts) {
  for (StringRef base : {"", "a", "a.b", "a.bc"})
    for (StringRef full : {"", "a", "a.b", "a.bc", "a.b.c", "a.bc.d", "b"}) {
      ModuleFrame frame(base);
      std::string relative = frame.relative(full);
      EXPECT_EQ(frame.absolute(relative), full);
      for (StringRef other : {"", "a", "a.b", "a.bc", "a.b.c", "a.bc.d", "b"})
        EXPECT_EQ(frame.isSame(relative, other), full == other)
            << base.str() << " " << relative << " " << other.str();
    }
}

TEST_F(CallRecord, TagsAreComparedWhole) {
  ModuleFrame frame("layer.0");
  auto context0 = ContextAttr::get(&context, "layer.0.x", Evidence::Name, 0.5);
  auto context1 = ContextAttr::get(&context, "layer.1.x", Evidence::Name, 0.5);
  auto tag = [&](StringRef path, int64_t call = 0, double confidence = 0.9,
                 ArrayRef<ContextAttr> contexts = {}) {
    return TagAttr::get(&context, path, call, Evidence::Name, confidence, "",
                        contexts);
  };
  TagAttr full = tag("layer.0.x", 1, 0.9, context0);
  EXPECT_TRUE(frame.isSame(frame.relative(full), full));
  for (TagAttr other :
       {tag("layer.1.x", 1, 0.9, context0), tag("layer.0.x", 2, 0.9, context0),
        tag("layer.0.x", 1, 0.8, context0), tag("layer.0.x", 1, 0.9, context1),
        tag("layer.0.x", 1, 0.9)})
    EXPECT_FALSE(frame.isSame(frame.relative(full), other));
}

TEST_F(CallRecord, LocationsAreComparedByNameAndScope) {
  ModuleFrame frame("layer.0");
  auto named = [&](StringRef name, StringRef scope) {
    return attachScope(NameLoc::get(builder.getStringAttr(name)), {scope});
  };
  Location full = named("MatMul_7", "layer.0.x");
  EXPECT_TRUE(frame.isSame(frame.relative(full), full));
  EXPECT_FALSE(
      frame.isSame(frame.relative(full), named("MatMul_8", "layer.0.x")));
  EXPECT_FALSE(
      frame.isSame(frame.relative(full), named("MatMul_7", "layer.1.x")));
}

TEST_F(CallRecord, UnderTheSameScopeOnlyTheNameIsRecorded) {
  ModuleFrame frame("layer.1");
  Location line = FileLineColLoc::get(&context, "net.py", 12, 0);
  auto named = [&](StringRef name) -> Location {
    return NameLoc::get(builder.getStringAttr(name));
  };
  auto scoped = [&](StringRef name, StringRef scope) {
    return attachScope(named(name), {scope}, line);
  };
  struct Case {
    Location body, original, recorded;
    StringRef key;
  };
  for (const Case &each :
       {Case{scoped("a", "x"), scoped("b", "layer.1.x"), named("b"),
             kRecordedInScope},
        Case{named("a"), named("b"), named("b"), kRecordedInScope},
        Case{scoped("a", "x"), scoped("b", "layer.0.x"),
             scoped("b", "layer.0.x"), kRecordedLocation},
        Case{scoped("a", "x"), named("b"), named("b"), kRecordedLocation},
        Case{named("a"), scoped("b", "layer.1.x"), scoped("b", "layer.1.x"),
             kRecordedLocation}}) {
    OwningOpRef<Operation *> body = makeOp({}), original = makeOp({});
    (*body)->setLoc(each.body);
    (*original)->setLoc(each.original);
    SmallVector<NamedAttribute> difference;
    recordDifference(*body, *original, frame, difference);
    EXPECT_EQ(builder.getDictionaryAttr(difference),
              builder.getDictionaryAttr({builder.getNamedAttr(
                  each.key, LocationAttr(each.recorded))}));
    makeAbsolute(*body, frame);
    applyDifference(*body, difference);
    EXPECT_EQ((*body)->getLoc(), each.original);
  }
}

TEST_F(CallRecord, ADifferenceGivesBackTheOriginal) {
  ModuleFrame frame("layer.1");
  OwningOpRef<Operation *> original =
      makeOp({text("onnx_node_name", "b"), text("value", "meant"),
              text("onnx.doc_string", "only here")});
  setTag(*original, TagAttr::get(&context, "layer.1.x"));
  OwningOpRef<Operation *> body =
      makeOp({text("onnx_node_name", "a"), text("value", "meant"),
              text("onnx.z", "gone"), text("onnx.b", "gone too")});
  setTag(*body, TagAttr::get(&context, "x"));

  SmallVector<NamedAttribute> difference;
  recordDifference(*body, *original, frame, difference);
  // Neither tag nor location, as they follow from those of the body.
  EXPECT_EQ(
      builder.getDictionaryAttr(difference),
      builder.getDictionaryAttr(
          {text("onnx_node_name", "b"), text("onnx.doc_string", "only here"),
           builder.getNamedAttr(kRecordedRemoval, builder.getStrArrayAttr(
                                                      {"onnx.b", "onnx.z"}))}));
  makeAbsolute(*body, frame);
  applyDifference(*body, difference);
  EXPECT_EQ((*body)->getAttrDictionary(), (*original)->getAttrDictionary());
  EXPECT_EQ((*body)->getLoc(), (*original)->getLoc());
}

/// The types of results are part of a difference, and so are the locations of
/// the arguments of regions.
TEST_F(CallRecord, TypesAndArgumentsAreGivenBack) {
  ModuleFrame frame("layer.1");
  Location first = NameLoc::get(builder.getStringAttr("first")),
           second = NameLoc::get(builder.getStringAttr("second"));
  auto make = [&](Type type, Location argument) {
    OperationState state(first, "d.loop");
    state.addTypes(type);
    Region *region = state.addRegion();
    region->emplaceBlock().addArgument(builder.getI1Type(), argument);
    return OwningOpRef<Operation *>(Operation::create(state));
  };
  OwningOpRef<Operation *> body = make(builder.getF32Type(), first),
                           original = make(builder.getF16Type(), second);
  SmallVector<NamedAttribute> difference;
  recordDifference(*body, *original, frame, difference);
  EXPECT_EQ(difference.size(), 2u);
  applyDifference(*body, difference);
  EXPECT_EQ((*body)->getResult(0).getType(), builder.getF16Type());
  EXPECT_EQ((*body)->getRegion(0).getArgument(0).getLoc(), second);
}

/// A file may hold any records: what is no type, no name and no location
/// changes nothing.
TEST_F(CallRecord, WhatIsNoRecordChangesNothing) {
  OperationState state(NameLoc::get(builder.getStringAttr("a")), "d.op");
  state.addTypes(builder.getF32Type());
  state.addAttribute("kept", builder.getUnitAttr());
  OwningOpRef<Operation *> op = Operation::create(state);
  Attribute number = builder.getI64IntegerAttr(1);
  for (Attribute odd : {number, Attribute(builder.getArrayAttr(number)),
                        Attribute(builder.getArrayAttr({}))}) {
    SmallVector<NamedAttribute> difference;
    for (StringRef key : {kRecordedLocation, kRecordedInScope, kRecordedTypes,
                          kRecordedArguments, kRecordedRemoval})
      difference.push_back(builder.getNamedAttr(key, odd));
    applyDifference(*op, difference);
    EXPECT_EQ((*op)->getLoc(), state.location);
    EXPECT_EQ((*op)->getResult(0).getType(), builder.getF32Type());
    EXPECT_EQ((*op)->getAttrs().size(), 1u);
  }
}

/// Runs of positions: what they do not account for in full is no order.
TEST(CallRecordOrder, OrdersThatDoNotFit) {
  MLIRContext context;
  auto decode = [&](ArrayRef<int64_t> runs, size_t count) {
    return decodeOrder(DenseI64ArrayAttr::get(&context, runs), count);
  };
  using Places = SmallVector<int64_t>;
  EXPECT_EQ(decode({3, 2, 0, 1}, 3), (Places{3, 4, 0}));
  EXPECT_EQ(decode({}, 0), Places());
  // Too few, too many, negative, and beyond all numbers.
  EXPECT_EQ(decode({3, 2}, 3), Places());
  EXPECT_EQ(decode({3, 4}, 3), Places());
  EXPECT_EQ(decode({-1, 3}, 3), Places());
  EXPECT_EQ(decode({0, -3}, 3), Places());
  EXPECT_EQ(decode({0, INT64_MAX}, 3), Places());
  EXPECT_EQ(decode({INT64_MAX, 3}, 3), Places());
  // A start without a length.
  EXPECT_EQ(decode({0, 3, 7}, 3), (Places{0, 1, 2}));
}
