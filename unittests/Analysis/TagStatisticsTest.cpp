// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inOtherLayer. The counts over a model are tested in
// test/Transforms/verify-tags.mlir.

#include "HTP/Analysis/TagStatistics.h"

#include "gtest/gtest.h"

using namespace htp;

TEST(TagStatistics, OtherLayers) {
  EXPECT_TRUE(inOtherLayer("/Net/Layer.0/Attention", "/Net/Layer.1/Attention"));
  EXPECT_TRUE(inOtherLayer("/Net/Block.left.0", "/Net/Block.right.0"));
  EXPECT_TRUE(inOtherLayer("/Net/Stage.0/Layer.0", "/Net/Stage.0/Layer.1"));
}

TEST(TagStatistics, NotOtherLayers) {
  EXPECT_FALSE(inOtherLayer("/Net/Layer.0/Attention", "/Net/Layer.0"));
  // What layers share belongs to their parent.
  EXPECT_FALSE(inOtherLayer("/Net", "/Net/Layer.1"));
  // Two parts of one layer, two kinds of layer.
  EXPECT_FALSE(inOtherLayer("/Net/Layer.0/Attention", "/Net/Layer.0/MLP"));
  EXPECT_FALSE(inOtherLayer("/Net/Encoder.0", "/Net/Decoder.1"));
}
