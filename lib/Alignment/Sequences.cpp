// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The orders of nodes that the order model may be run on, beside that of the
// file. Some tools sort the nodes of a file, so that its order is no longer
// that of an exporter (docs/Alignment.md, "The procedure").

#include "Model.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>

using namespace htp;
using namespace htp::alignment;

std::vector<Index>
alignment::orderFloatingLast(const Observations &observations) {
  std::vector<bool> done(observations.size());
  std::vector<Index> order;
  // Nodes that wait for their producers, and the next one to be looked at.
  llvm::SmallVector<std::pair<Index, size_t>> stack;
  auto waits = [&](Index n) {
    return observations.list[n].floating && !observations.next[n].empty();
  };
  for (Index first = 0; first < observations.size(); ++first) {
    if (!done[first] && !waits(first))
      stack.push_back({first, 0});
    while (!stack.empty()) {
      auto [n, next] = stack.back();
      llvm::ArrayRef<Index> producers = observations.prev[n];
      if (next < producers.size()) {
        ++stack.back().second;
        if (!done[producers[next]])
          stack.push_back({producers[next], 0});
        continue;
      }
      stack.pop_back();
      if (!done[n])
        order.push_back(n);
      done[n] = true;
    }
  }
  return order;
}

/// Changes `placed` from the step by which each node has run, as far as that is
/// known, to the step at which it is taken. A node whose place is uncertain ran
/// before the first of its readers whose place is known; given a later place,
/// it would hold all of its readers back. A floating node is taken right then,
/// because nothing else says when it ran.
static void findDue(const Observations &observations,
                    std::vector<Index> &placed,
                    const std::vector<bool> &known) {
  std::vector<Index> before = placed;
  for (Index n = observations.size(); n-- > 0;) {
    llvm::ArrayRef<Index> readers = observations.next[n];
    if (known[n] || readers.empty())
      continue;
    before[n] = before[readers.front()];
    for (Index m : readers)
      before[n] = std::min(before[n], before[m]);
    placed[n] = observations.list[n].floating ? before[n]
                                              : std::min(placed[n], before[n]);
  }
}

std::vector<Index> alignment::orderByPlace(const Observations &observations,
                                           std::vector<Index> placed,
                                           const std::vector<bool> &known) {
  findDue(observations, placed, known);
  std::vector<Index> waiting, order;
  using Ready = std::pair<Index, Index>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<Ready>> ready;
  for (Index n = 0; n < observations.size(); ++n) {
    waiting.push_back(observations.prev[n].size());
    if (!waiting[n])
      ready.push({placed[n], n});
  }
  while (!ready.empty()) {
    Index n = ready.top().second;
    ready.pop();
    order.push_back(n);
    for (Index m : observations.next[n])
      if (--waiting[m] == 0)
        ready.push({placed[m], m});
  }
  return order;
}
