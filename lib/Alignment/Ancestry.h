// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which states can be reached from which in the program's dataflow. Bit sets of
// all reachable states would be quadratic in the size of the program; a few
// interval labels per state are not.

#ifndef HTP_LIB_ALIGNMENT_ANCESTRY_H
#define HTP_LIB_ALIGNMENT_ANCESTRY_H

#include "Model.h"

namespace htp::alignment {

/// Answers "may t reach u" from a few interval labels per state (Yildirim et
/// al., GRAIL). A no is always right. A yes is wrong only rarely.
class Ancestry {
public:
  explicit Ancestry(const States &states);

  bool mayReach(Index from, Index to) const {
    if (from >= to)
      return from == to;
    const Labels &outer = labels[from], &inner = labels[to];
    bool outside = false; // no early exit: a loop without branches is faster
    for (unsigned k = 0; k < kLabels; ++k) {
      outside |= inner.low[k] < outer.low[k];
      outside |= inner.rank[k] > outer.rank[k];
    }
    return !outside;
  }

private:
  static constexpr unsigned kLabels = 4;
  struct Labels {
    std::array<Index, kLabels> low, rank;
  };
  std::vector<Labels> labels;
};

} // namespace htp::alignment

#endif // HTP_LIB_ALIGNMENT_ANCESTRY_H
