// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-spell-tags: see Passes.td. Only sets a flag on the htp.hierarchy, which
// writers read.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Transforms/Passes.h"

namespace htp {
#define GEN_PASS_DEF_HTPSPELLTAGS
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

namespace {

struct SpellTags : htp::impl::HTPSpellTagsBase<SpellTags> {
  using HTPSpellTagsBase::HTPSpellTagsBase;

  void runOnOperation() override {
    if (htp::HierarchyOp hierarchy = htp::findHierarchy(getOperation()))
      htp::keepTorchNN(hierarchy, torchNN);
  }
};

} // namespace
