// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scopes in locations: attaching, finding, mapping and stripping them.

#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {
struct ScopeLoc : testing::Test {
  MLIRContext context;
  Location unknown = UnknownLoc::get(&context);
  Location named = NameLoc::get(StringAttr::get(&context, "MatMul_7"));
  Location line = FileLineColLoc::get(&context, "net.py", 12, 0);
};
} // namespace

TEST_F(ScopeLoc, StripGivesBackTheOriginal) {
  for (Location original : {unknown, named, line})
    for (ArrayRef<Location> sources : {ArrayRef<Location>(), ArrayRef(line)})
      EXPECT_EQ(stripScopes(attachScope(original, {"a.b", 1}, sources)),
                original);
}

TEST_F(ScopeLoc, AttachingAgainReplacesTheScopeAndKeepsTheLines) {
  Location loc = attachScope(named, {"a", 1}, line);
  loc = attachScope(loc, {"b", 0});
  EXPECT_EQ(findScopes(loc).size(), 1u);
  EXPECT_EQ(*findScope(loc), (Scope{"b", 0}));
  EXPECT_EQ(findSources(loc).front(), line);
  EXPECT_EQ(stripScopes(loc), named);
}

TEST_F(ScopeLoc, TheScopeOfAnotherLocationIsAttachedAsItself) {
  for (ArrayRef<Location> sources : {ArrayRef<Location>(), ArrayRef(line)})
    for (Location original : {unknown, named, line})
      for (Location loc : {original, attachScope(original, {"b", 0}),
                           attachScope(original, {"b", 0}, line)})
        EXPECT_EQ(attachScopeOf(attachScope(named, {"a", 1}, sources), loc),
                  attachScope(loc, {"a", 1}));
}

TEST_F(ScopeLoc, AnOpMadeOfSeveralHasSeveral) {
  Location a = attachScope(named, {"a", 0}), b = attachScope(line, {"b", 2});
  Location fused = FusedLoc::get(&context, {a, b});
  EXPECT_EQ(findScopes(fused).size(), 2u);
  EXPECT_FALSE(findScope(fused));
  EXPECT_EQ(stripScopes(fused), FusedLoc::get(&context, {named, line}));
  // Equal scopes count once.
  Location same = FusedLoc::get(&context, {a, attachScope(line, {"a", 0})});
  EXPECT_EQ(*findScope(same), (Scope{"a", 0}));
}

TEST_F(ScopeLoc, InsideACallSite) {
  Location call = CallSiteLoc::get(attachScope(named, {"a", 0}), line);
  EXPECT_EQ(*findScope(call), (Scope{"a", 0}));
  EXPECT_EQ(stripScopes(call), CallSiteLoc::get(named, line));
}

TEST_F(ScopeLoc, MappingKeepsAllButThePath) {
  auto shorten = [](StringRef path) { return path.drop_front(2).str(); };
  for (Location original : {unknown, named, line}) {
    EXPECT_EQ(mapScopes(original, shorten), original);
    EXPECT_EQ(mapScopes(attachScope(original, {"a.b", 1}, line), shorten),
              attachScope(original, {"b", 1}, line));
  }
  // However they are nested.
  auto nested = [&](StringRef first, StringRef second) -> Location {
    Location fused = FusedLoc::get(
        &context, {attachScope(named, {first}), attachScope(line, {second})});
    return CallSiteLoc::get(NameLoc::get(StringAttr::get(&context, "n"), fused),
                            line);
  };
  EXPECT_EQ(mapScopes(nested("a.b", "a.c"), shorten), nested("b", "c"));
}

TEST_F(ScopeLoc, WhatIsInsideIsReplacedAlone) {
  Location other = NameLoc::get(StringAttr::get(&context, "Add_1"));
  EXPECT_EQ(replaceInScope(attachScope(named, {"a", 2}, line), other),
            attachScope(other, {"a", 2}, line));
  // A scope that is deeper inside belongs to what is replaced.
  Location inside = CallSiteLoc::get(attachScope(named, {"a", 0}), line);
  EXPECT_EQ(replaceInScope(inside, other), other);
  EXPECT_EQ(replaceInScope(named, other), other);
}

TEST_F(ScopeLoc, LocationsOfOneScope) {
  auto equal = [](StringRef a, StringRef b) { return a == b; };
  auto ends = [](StringRef a, StringRef b) { return b.ends_with(a); };
  Location other = NameLoc::get(StringAttr::get(&context, "Add_1"));
  Location a = attachScope(named, {"a", 1}),
           again = attachScope(other, {"a", 1});
  EXPECT_TRUE(haveSameScope(a, again, equal));    // whatever is inside
  EXPECT_TRUE(haveSameScope(named, line, equal)); // none is the same as none
  EXPECT_FALSE(haveSameScope(a, named, equal));
  EXPECT_FALSE(haveSameScope(a, attachScope(named, {"a", 0}), equal));
  EXPECT_FALSE(haveSameScope(a, attachScope(named, {"b", 1}), equal));
  EXPECT_FALSE(haveSameScope(a, attachScope(named, {"a", 1}, line), equal));
  // What counts as the same path is the caller's to say.
  Location full = attachScope(named, {"x.a", 1});
  EXPECT_FALSE(haveSameScope(a, full, equal));
  EXPECT_TRUE(haveSameScope(a, full, ends));
  // Of several scopes in one location nobody says which.
  Location both = FusedLoc::get(&context, {a, attachScope(line, {"b", 0})});
  EXPECT_FALSE(haveSameScope(both, both, equal));
}

/// A location that another tool made may have the keys of a scope with
/// anything in them.
TEST_F(ScopeLoc, MetadataOfOthers) {
  Builder builder(&context);
  auto fused = [&](NamedAttribute attribute, NamedAttribute more) -> Location {
    return FusedLoc::get(&context, {named, line},
                         builder.getDictionaryAttr({attribute, more}));
  };
  NamedAttribute scope =
      builder.getNamedAttr("htp.scope", builder.getStringAttr("a"));
  // No path: no scope, and nothing of ours to remove.
  Location wrong =
      fused(builder.getNamedAttr("htp.scope", builder.getI64IntegerAttr(1)),
            builder.getNamedAttr("htp.call", builder.getI64IntegerAttr(1)));
  EXPECT_TRUE(findScopes(wrong).empty());
  EXPECT_EQ(stripScopes(wrong), wrong);
  // A call that is no number is the first one; more sources than there are
  // locations are all of them.
  Location odd =
      fused(scope, builder.getNamedAttr("htp.call", builder.getUnitAttr()));
  EXPECT_EQ(*findScope(odd), (Scope{"a", 0}));
  Location many = fused(
      scope, builder.getNamedAttr("htp.sources", builder.getI64IntegerAttr(9)));
  EXPECT_EQ(findSources(many).size(), 2u);
  EXPECT_EQ(stripScopes(many), unknown);
  Location less =
      fused(scope,
            builder.getNamedAttr("htp.sources", builder.getI64IntegerAttr(-1)));
  EXPECT_TRUE(findSources(less).empty());
}
