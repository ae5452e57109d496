// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partitions of small graphs: splits, pulled and hoisted ops, constants.

#include "HTP/Partition/Partition.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <random>

using namespace htp;

namespace {

struct Edge {
  unsigned from, to;
};

DataflowGraph makeGraph(unsigned ops, std::vector<Edge> edges) {
  DataflowGraph graph(ops);
  llvm::sort(edges, [](Edge a, Edge b) { return a.to < b.to; });
  for (Edge edge : edges)
    graph.addEdge(edge.from, edge.to);
  return graph;
}

/// Checks that every op is in exactly one place, and after everything it needs.
void expectValid(const DataflowGraph &graph, const Partition &cut) {
  std::vector<int> at(graph.size(), -1);
  int clock = 0;
  std::vector<std::pair<unsigned, size_t>> stack{{0, 0}};
  while (!stack.empty()) {
    auto &[part, next] = stack.back();
    if (next == cut.parts[part].items.size()) {
      stack.pop_back();
      continue;
    }
    Part::Item item = cut.parts[part].items[next++];
    if (item.isPart) {
      stack.push_back({item.index, 0});
    } else {
      EXPECT_EQ(at[item.index], -1);
      at[item.index] = clock++;
    }
  }
  for (unsigned op = 0; op < graph.size(); ++op) {
    EXPECT_NE(at[op], -1);
    for (unsigned producer : graph.producers(op))
      EXPECT_LT(at[producer], at[op]);
  }
}

TEST(Partition, InterleavedGroupsAreReordered) {
  // a0 b0 a1 b1, two chains
  DataflowGraph graph = makeGraph(4, {{0, 2}, {1, 3}});
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0), b = groups.add(0);
  Partition cut = partition(graph, groups, {a, b, a, b}, 2);
  expectValid(graph, cut);
  ASSERT_EQ(cut.parts.size(), 3u);
  EXPECT_TRUE(cut.splits.empty());
  EXPECT_EQ(cut.parts[1].members, (std::vector<unsigned>{0, 2}));
}

TEST(Partition, OpBetweenIsPulledInside) {
  // a0 -> x -> a1, and y -> a0 stays outside
  DataflowGraph graph = makeGraph(4, {{0, 1}, {1, 2}, {2, 3}});
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0);
  Partition cut = partition(graph, groups, {0, a, 0, a}, 2);
  expectValid(graph, cut);
  ASSERT_EQ(cut.parts.size(), 2u);
  EXPECT_EQ(cut.parts[1].members, (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(cut.pulled, 1u);
}

TEST(Partition, OpThatOthersReadIsNotPulled) {
  // a0 -> x -> a1, x also leaves the block
  DataflowGraph graph = makeGraph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  graph.setEscapes(2);
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0);
  Partition cut = partition(graph, groups, {a, a, 0, a, a}, 2);
  expectValid(graph, cut);
  ASSERT_EQ(cut.splits.size(), 1u);
  EXPECT_EQ(cut.splits[0].parts, 2u);
  EXPECT_EQ(cut.splits[0].leaves, 1u);
  EXPECT_EQ(cut.splits[0].through, 2u);
  EXPECT_EQ(cut.splits[0].returns, 3u);
}

TEST(Partition, OnlyTheGroupThatLeavesIsSplit) {
  // b0; a0 a1 -> b1 -> b2 -> a2 a3: b could start first, but splitting it does
  // not help
  DataflowGraph graph =
      makeGraph(7, {{0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0), b = groups.add(0);
  Partition cut = partition(graph, groups, {b, a, a, b, b, a, a}, 2);
  expectValid(graph, cut);
  ASSERT_EQ(cut.splits.size(), 1u);
  EXPECT_EQ(cut.splits[0].group, a);
  EXPECT_EQ(cut.splits[0].parts, 2u);
  EXPECT_EQ(cut.parts.size(), 4u);
}

TEST(Partition, GroupsThatNeedEachOther) {
  // a0 -> b0 and b1 -> a1: convex each, not both
  DataflowGraph graph = makeGraph(4, {{0, 2}, {1, 3}});
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0), b = groups.add(0);
  Partition cut = partition(graph, groups, {a, b, b, a}, 1);
  expectValid(graph, cut);
  ASSERT_EQ(cut.splits.size(), 1u);
  EXPECT_FALSE(cut.splits[0].leaves);
}

TEST(Partition, FewestPartsOfOneGroup) {
  // a x a x a x a in a chain where every x escapes: four stays, four parts
  std::vector<Edge> edges;
  for (unsigned i = 0; i < 6; ++i)
    edges.push_back({i, i + 1});
  DataflowGraph graph = makeGraph(7, edges);
  for (unsigned i = 1; i < 7; i += 2)
    graph.setEscapes(i);
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0);
  Partition cut = partition(graph, groups, {a, 0, a, 0, a, 0, a}, 1);
  expectValid(graph, cut);
  ASSERT_EQ(cut.splits.size(), 1u);
  EXPECT_EQ(cut.splits[0].parts, 4u);
}

TEST(Partition, ConstantsFollowTheirUsers) {
  // constants 0 (used in the inner group), 1 (used by both), 2: a weight
  DataflowGraph graph =
      makeGraph(7, {{0, 3}, {1, 3}, {3, 4}, {2, 4}, {4, 5}, {1, 5}, {5, 6}});
  graph.setRole(0, OpRole::Constant);
  graph.setRole(1, OpRole::Constant);
  graph.setRole(2, OpRole::Pinned);
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0), inner = groups.add(a), b = groups.add(0);
  Partition cut =
      partition(graph, groups, {b, b, inner, inner, inner, b, b}, 2);
  expectValid(graph, cut);
  ASSERT_EQ(cut.parts.size(), 4u);
  EXPECT_EQ(cut.parts[0].items.size(), 4u); // 1, 2, a, b
  EXPECT_EQ(cut.parts[1].group, a);
  EXPECT_EQ(cut.parts[3].group, inner);
  EXPECT_EQ(cut.parts[3].members, (std::vector<unsigned>{0, 3, 4}));
}

TEST(Partition, SharedOpMovesOut) {
  // mask 0 -> 1 in the first layer, read there by 2 and in the second by 4; not
  // if 0 reads a weight
  for (bool weight : {false, true}) {
    DataflowGraph graph =
        makeGraph(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {2, 5}});
    if (weight)
      graph.setRole(0, OpRole::Weight);
    graph.finish();
    GroupTree groups;
    unsigned a = groups.add(0, 1), b = groups.add(0, 1);
    Partition cut = partition(graph, groups, {0, a, a, a, a, b, b}, 2);
    expectValid(graph, cut);
    EXPECT_EQ(cut.hoisted, weight ? 0u : 2u);
    ASSERT_EQ(cut.parts.size(), 3u);
    EXPECT_EQ(cut.parts[1].members.size(), weight ? 4u : 2u);
  }
}

TEST(Partition, SmallPartsDissolve) {
  DataflowGraph graph = makeGraph(3, {{0, 1}, {1, 2}});
  graph.finish();
  GroupTree groups;
  unsigned a = groups.add(0);
  Partition cut = partition(graph, groups, {0, a, 0}, 2);
  expectValid(graph, cut);
  EXPECT_EQ(cut.parts.size(), 1u);
  EXPECT_EQ(cut.parts[0].items.size(), 3u);
}

/// The fewest convex parts of one group: the number of stays of the path that
/// leaves and comes back most often.
unsigned mostStays(const DataflowGraph &graph,
                   llvm::ArrayRef<unsigned> groupOf) {
  std::vector<unsigned> stays(graph.size(), 0);
  unsigned most = 0;
  for (unsigned op = 0; op < graph.size(); ++op) {
    unsigned best = groupOf[op] ? 1 : 0;
    for (unsigned p : graph.producers(op))
      best = std::max(best, stays[p] + (groupOf[op] && !groupOf[p] ? 1 : 0));
    stays[op] = best;
    most = std::max(most, best);
  }
  return most;
}

TEST(Partition, RandomGraphsAreValidAndMinimal) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 300; ++round) {
    unsigned ops = 5 + random() % 40;
    std::vector<Edge> edges;
    for (unsigned to = 1; to < ops; ++to)
      for (unsigned k = random() % 3; k; --k)
        edges.push_back({unsigned(random() % to), to});
    DataflowGraph graph = makeGraph(ops, edges);
    // All values escape, so that nothing may be pulled inside.
    for (unsigned op = 0; op < ops; ++op)
      graph.setEscapes(op);
    graph.finish();
    GroupTree nested;
    for (unsigned i = 1; i < 8; ++i)
      nested.add(random() % i);
    std::vector<unsigned> groupOf(ops), one(ops);
    for (unsigned op = 0; op < ops; ++op) {
      groupOf[op] = random() % 8;
      one[op] = random() % 2;
    }
    expectValid(graph, partition(graph, nested, groupOf, 1 + random() % 3));
    GroupTree single;
    single.add(0);
    Partition cut = partition(graph, single, one, 1);
    expectValid(graph, cut);
    EXPECT_EQ(cut.parts.size() - 1, mostStays(graph, one));
  }
}

} // namespace
