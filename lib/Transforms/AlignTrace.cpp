// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-align-trace: see Passes.td. The work is done in lib/Hierarchy; here
// the model becomes a graph, and the answers become tags.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Hierarchy/TraceProgram.h"
#include "HTP/Transforms/Passes.h"

#include "Evidence/AlignedTags.h"

namespace htp {
#define GEN_PASS_DEF_HTPALIGNTRACE
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

struct AlignTrace : htp::impl::HTPAlignTraceBase<AlignTrace> {
  using HTPAlignTraceBase::HTPAlignTraceBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (trace.empty()) {
      module.emitError("no trace given: use htp-align-trace{trace=FILE}");
      return signalPassFailure();
    }
    auto program = loadTraceProgram(trace);
    if (!program) {
      module.emitError() << llvm::toString(program.takeError());
      return signalPassFailure();
    }
    const ModuleTree &traced = (*program)->trace.tree;
    if (!findHierarchy(module))
      toIR(traced, module);
    auto &hierarchy = getAnalysis<HierarchyAnalysis>();
    markAnalysesPreserved<HierarchyAnalysis>();
    AlignedTags tags(module, (*program)->program, traced, hierarchy);
    tags.setSourceName(trace);
    if (failed(tags.run()))
      return signalPassFailure();
    numAligned += tags.numAligned;
    numByParameter += tags.numByParameter;
  }
};

} // namespace
