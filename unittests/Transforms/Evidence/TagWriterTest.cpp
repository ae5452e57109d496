// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TagWriter makes and writes the same as TagAttr::get and setTag, whatever it
// has cached.

#include "Evidence/TagWriter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {
struct TagWriterTest : testing::Test {
  TagWriterTest() {
    context.allowUnregisteredDialects();
    context.loadDialect<HTPDialect>();
  }

  Operation *makeOp(bool marked) {
    OperationState state(named, "d.op");
    if (marked)
      state.addAttribute("d.mark", UnitAttr::get(&context));
    return Operation::create(state);
  }

  MLIRContext context;
  Location named = NameLoc::get(StringAttr::get(&context, "MatMul_7"));
  Location line = FileLineColLoc::get(&context, "net.py", 12, 0);
};
} // namespace

TEST_F(TagWriterTest, MakesTheTagsThatWereAskedFor) {
  auto path = StringAttr::get(&context, "a");
  TagWriter tags(1);
  for (int64_t call : {0, 0, 1})
    for (Evidence evidence :
         {Evidence::Name, Evidence::Name, Evidence::Parameter})
      for (double confidence : {0.5, 0.9})
        for (llvm::StringRef reason : {"", "b"})
          EXPECT_EQ(
              tags.make(0, path, call, evidence, confidence, reason),
              TagAttr::get(&context, "a", call, evidence, confidence, reason));
}

TEST_F(TagWriterTest, WritesWhatSetTagWrites) {
  // More tags than are cached; ops with and without other attributes, with and
  // without lines of code.
  TagWriter tags(1);
  for (const char *path :
       {"a", "a", "b", "c", "a", "d", "e", "f", "a", "f", "", "a"})
    for (bool marked : {true, false, true, false})
      for (ArrayRef<Location> sources :
           {ArrayRef<Location>(), ArrayRef(line)}) {
        Operation *op = makeOp(marked), *expected = makeOp(marked);
        TagAttr tag = TagAttr::get(&context, path, 1);
        tags.write(op, tag, sources);
        setTag(expected, tag, sources);
        EXPECT_EQ(op->getAttrDictionary(), expected->getAttrDictionary());
        EXPECT_EQ(op->getLoc(), expected->getLoc());
        op->destroy();
        expected->destroy();
      }
}
