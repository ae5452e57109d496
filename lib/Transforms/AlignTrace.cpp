// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-align-trace: see Passes.td. lib/Alignment does the work; here the model
// is converted to its input, and its answers to tags.

#include "DebugOutput.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Trace/TraceProgram.h"
#include "HTP/Transforms/Passes.h"
#include "HTP/Transforms/TraceReader.h"

#include "Evidence/AlignedTags.h"

#define DEBUG_TYPE "htp-align-trace"

namespace htp {
#define GEN_PASS_DEF_HTPALIGNTRACE
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

/// Takes over the counts of --htp-attach-hierarchy, which also matches
/// parameters by name.
static void setParameters(AlignedTags &tags, mlir::ModuleOp module) {
  HierarchyOp hierarchy = findHierarchy(module);
  auto counts = hierarchy
                    ? hierarchy->getAttrOfType<DenseI64ArrayAttr>(kMatchedAttr)
                    : DenseI64ArrayAttr();
  if (!counts || counts.size() != 2)
    return;
  tags.setParameters(counts[1], counts[0]);
  hierarchy->removeAttr(kMatchedAttr);
}

struct AlignTrace : htp::impl::HTPAlignTraceBase<AlignTrace>, TraceReader {
  using HTPAlignTraceBase::HTPAlignTraceBase;

  StringRef traceFile() const override { return trace.getValue(); }

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
    auto &sketches = getAnalysis<SketchAnalysis>();
    markAnalysesPreserved<HierarchyAnalysis, SketchAnalysis>();
    AlignedTags tags(module, (*program)->program, traced, hierarchy);
    tags.setSourceName("the trace '" + trace + "'");
    tags.setForce(force);
    tags.setExplained(explain);
    AlignmentParameters changed;
    if (llvm::Error error = changed.set(numbers)) {
      module.emitError() << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    tags.setNumbers(changed);
    tags.setSketches([&] { return &sketches.with(traced); });
    setParameters(tags, module);
    LDBG() << "aligning with " << (*program)->program.steps.size()
           << " steps and " << (*program)->program.parameters.size()
           << " parameters of '" << trace << "'";
    if (failed(tags.run()))
      return signalPassFailure();
    LDBG() << tags.numAligned << " nodes tagged by alignment, "
           << tags.numByParameter << " by a parameter";
    LDBG_OS(2, [&](raw_ostream &os) {
      os << "tags after the alignment:";
      forEachRootedNode(module, [&](Operation *op) {
        os << "\n  " << DebugNode{op} << " " << getTag(op);
      });
    });
    numAligned += tags.numAligned;
    numByParameter += tags.numByParameter;
  }
};

} // namespace
