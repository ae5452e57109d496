// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the labels that answer ancestor queries in constant time, with a few
// depth-first walks that visit children in different orders.

#include "Ancestry.h"

using namespace htp::alignment;

/// Each labelling is one depth-first walk, with its own order of children. The
/// interval [low, rank] of a state contains the ranks of all states that it can
/// reach.
Ancestry::Ancestry(const States &states) : labels(states.size()) {
  std::vector<bool> seen;
  std::vector<std::pair<Index, unsigned>> stack;
  for (unsigned k = 0; k < kLabels; ++k) {
    Index rank = 0;
    seen.assign(states.size(), false);
    // The order must differ between labellings and be the same on every run.
    auto child = [&](Index t, unsigned i) {
      llvm::ArrayRef<Index> next = states.next[t];
      unsigned n = next.size();
      switch (k % 4) {
      case 0:
        return next[i];
      case 1:
        return next[n - 1 - i];
      case 2:
        return next[(i + n / 2) % n];
      default:
        return next[(i * 2 < n) ? i * 2 : (i - (n + 1) / 2) * 2 + 1];
      }
    };
    auto visit = [&](Index root) {
      if (seen[root])
        return;
      seen[root] = true;
      stack.push_back({root, 0});
      while (!stack.empty()) {
        auto &[t, i] = stack.back();
        if (i < states.next[t].size()) {
          Index c = child(t, i++);
          if (!seen[c]) {
            seen[c] = true;
            stack.push_back({c, 0});
          }
          continue;
        }
        Index low = rank;
        for (Index c : states.next[t])
          low = std::min(low, labels[c].low[k]);
        labels[t].low[k] = low;
        labels[t].rank[k] = rank++;
        stack.pop_back();
      }
    };
    for (Index i = 0; i < states.size(); ++i) {
      Index root = k % 2 ? states.size() - 1 - i : i;
      if (states.prev[root].empty())
        visit(root);
    }
  }
}
