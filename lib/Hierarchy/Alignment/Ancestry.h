// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which states can follow which in the program's dataflow, without a bit set
// of all states for each one.

#ifndef HTP_LIB_HIERARCHY_ALIGNMENT_ANCESTRY_H
#define HTP_LIB_HIERARCHY_ALIGNMENT_ANCESTRY_H

#include "Model.h"

namespace htp::alignment {

/// Answers "may t reach u" from a few interval labels a state (Yildirim et
/// al., GRAIL). No is always right; yes is right nearly always.
class Ancestry {
public:
  explicit Ancestry(const States &states);

  bool mayReach(Index from, Index to) const {
    if (from >= to)
      return from == to;
    for (unsigned k = 0; k < kLabels; ++k) {
      const Label &outer = labels[from * kLabels + k];
      const Label &inner = labels[to * kLabels + k];
      if (inner.low < outer.low || inner.rank > outer.rank)
        return false;
    }
    return true;
  }

private:
  static constexpr unsigned kLabels = 4;
  struct Label {
    Index low, rank;
  };
  std::vector<Label> labels;
};

} // namespace htp::alignment

#endif // HTP_LIB_HIERARCHY_ALIGNMENT_ANCESTRY_H
