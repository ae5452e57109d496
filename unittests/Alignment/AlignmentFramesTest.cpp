// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of module calls, which is made of no more than counts of calls.

#include "Alignment/Model.h"

#include "gtest/gtest.h"

using namespace htp;
using namespace htp::alignment;

namespace {

Program::Step stepIn(int32_t module, int32_t call = 0) {
  Program::Step step;
  step.module = module;
  step.call = call;
  return step;
}

/// A program whose modules were called so often.
Program programOf(std::initializer_list<Program::Step> steps,
                  unsigned others = 16) {
  Program program;
  program.steps.assign(steps.begin(), steps.end());
  program.steps.resize(program.steps.size() + others);
  return program;
}

TEST(AlignmentFrames, CallsOfAParentCallItsChildrenEquallyOften) {
  // 0: root, 1: a layer that ran twice, 2: in it, six times.
  Frames frames(programOf({}), {{-1, 1}, {0, 2}, {1, 6}});
  ASSERT_TRUE(frames.known());
  Index root = frames.of(0, 0), first = frames.of(1, 0),
        second = frames.of(1, 1);
  EXPECT_NE(first, second);
  for (Index call : {0, 1, 2})
    EXPECT_TRUE(frames.inside(frames.of(2, call), first)) << call;
  for (Index call : {3, 4, 5}) {
    EXPECT_TRUE(frames.inside(frames.of(2, call), second)) << call;
    EXPECT_FALSE(frames.inside(frames.of(2, call), first)) << call;
  }
  EXPECT_EQ(frames.common(frames.of(2, 0), frames.of(2, 2)), first);
  EXPECT_EQ(frames.common(frames.of(2, 2), frames.of(2, 3)), root);
  EXPECT_EQ(frames.childTowards(root, frames.of(2, 5)), second);
  EXPECT_EQ(frames.childTowards(first, frames.of(2, 1)), frames.of(2, 1));
  EXPECT_EQ(frames.module(frames.of(2, 4)), 2);
  EXPECT_EQ(frames.call(frames.of(2, 4)), 4);
}

TEST(AlignmentFrames, ContainersHaveNone) {
  // 0: root, 1: a list that never runs, 2 and 3: its elements.
  Frames frames(programOf({}), {{-1, 1}, {0, 0}, {1, 1}, {1, 1}});
  EXPECT_EQ(frames.common(frames.of(2, 0), frames.of(3, 0)), frames.of(0, 0));
  EXPECT_EQ(frames.childTowards(frames.of(0, 0), frames.of(3, 0)),
            frames.of(3, 0));
}

/// A program says more than a tree about what ran.
TEST(AlignmentFrames, StepsCountWhereTheTreeIsSilent) {
  // The tree says that module 1 never ran and module 2 once.
  Frames frames(programOf({stepIn(1), stepIn(2, 2)}),
                {{-1, 1}, {0, 0}, {0, 1}});
  EXPECT_EQ(frames.module(frames.of(1, 0)), 1);
  EXPECT_NE(frames.of(2, 1), frames.of(2, 2));
}

/// A number beyond the last known call means the last one, a negative one the
/// first.
TEST(AlignmentFrames, CallsThatNobodyMade) {
  Frames frames(programOf({}), {{-1, 1}, {0, 2}});
  EXPECT_EQ(frames.of(1, 1), frames.of(1, 7));
  EXPECT_EQ(frames.of(1, 0), frames.of(1, -3));
}

TEST(AlignmentFrames, WithoutATreeThereAreNone) {
  EXPECT_FALSE(Frames(programOf({}), {}).known());
}

/// Counts of calls are not trusted beyond what a program can tell apart.
TEST(AlignmentFrames, NoMoreFramesThanSteps) {
  Frames frames(programOf({stepIn(0)}, /*others=*/0), {{-1, 1 << 30}});
  EXPECT_LE(frames.of(0, 1 << 30), 2);
}

} // namespace
