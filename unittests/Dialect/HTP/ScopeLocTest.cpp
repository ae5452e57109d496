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
