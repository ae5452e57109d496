// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds --htp-tag from the single passes.

#include "HTP/Pipelines/Pipelines.h"

#include "HTP/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void htp::buildTagPipeline(OpPassManager &pm,
                           const TagPipelineOptions &options) {
  HTPAttachHierarchyOptions attach;
  attach.trace = options.trace;
  attach.executed = options.executed;
  pm.addPass(createHTPAttachHierarchy(attach));
  if (!options.reference.empty()) {
    HTPAlignReferenceOptions align;
    align.reference = options.reference;
    align.force = options.force;
    align.explain = options.explain;
    align.numbers = options.numbers;
    pm.addPass(createHTPAlignReference(align));
  }
  if (!options.trace.empty()) {
    HTPAlignTraceOptions align;
    align.trace = options.trace;
    align.force = options.force;
    align.explain = options.explain;
    align.numbers = options.numbers;
    pm.addPass(createHTPAlignTrace(align));
  }
  pm.addPass(createHTPPropagateAuxTags());
  HTPResolveContaminationOptions resolve;
  resolve.policy = options.policy;
  resolve.overrides = options.overrides;
  pm.addPass(createHTPResolveContamination(resolve));
  pm.addPass(createHTPListUsers());
  if (options.torchNN)
    pm.addPass(createHTPSpellTags({options.torchNN}));
  if (!options.explain.empty())
    pm.addPass(createHTPExplain({options.explain}));
  // A node in the body of another layer's node is only a warning: optimizers
  // merge nodes of different layers. All other checks stay errors.
  HTPVerifyTagsOptions verify;
  verify.strict = false;
  pm.addPass(createHTPVerifyTags(verify));
}

void htp::registerHTPPipelines() {
  PassPipelineRegistration<TagPipelineOptions>(
      "htp-tag", "Say of every node which nn.Module it came from",
      [](OpPassManager &pm, const TagPipelineOptions &options) {
        buildTagPipeline(pm, options);
      });
}
