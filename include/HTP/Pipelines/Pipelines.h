// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes in the order in which users want them.

#ifndef HTP_PIPELINES_PIPELINES_H
#define HTP_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace htp {

struct TagPipelineOptions
    : public mlir::PassPipelineOptions<TagPipelineOptions> {
  Option<std::string> trace{
      *this, "trace",
      llvm::cl::desc("Trace of the model: trace.json, .pt or .pt2")};
  Option<std::string> reference{
      *this, "reference",
      llvm::cl::desc("The same model, tagged before an optimizer ran")};
  Option<bool> force{
      *this, "force",
      llvm::cl::desc("Go on, with a warning, where the trace or the reference "
                     "is of another model"),
      llvm::cl::init(false)};
  Option<std::string> explain{
      *this, "explain",
      llvm::cl::desc("Say in remarks why this node, named by itself or by one "
                     "of its values, gets the tag that it gets")};
  Option<std::string> numbers{
      *this, "numbers",
      llvm::cl::desc("Numbers of the alignment to be changed for a study: "
                     "name=value,… (docs/Alignment.md)")};
  Option<bool> torchNN{
      *this, "torch-nn",
      llvm::cl::desc("Keep the classes of torch.nn as components of tags"),
      llvm::cl::init(false)};
  Option<std::string> policy{*this, "policy",
                             llvm::cl::desc("Rules for conflicts, as JSON")};
  Option<std::string> overrides{
      *this, "overrides",
      llvm::cl::desc("Nodes whose module is given: JSON, node name to module")};
};

/// --htp-tag: attach the hierarchy, align, propagate, resolve, verify. What is
/// not given is left out; with nothing given the model alone has to do.
void buildTagPipeline(mlir::OpPassManager &pm,
                      const TagPipelineOptions &options);

void registerHTPPipelines();

} // namespace htp

#endif // HTP_PIPELINES_PIPELINES_H
