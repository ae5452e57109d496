// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass pipelines that HTP offers, and their options.

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
  Option<std::string> executed{
      *this, "executed",
      llvm::cl::desc("What a run of the model and of the graph showed: "
                     "executed.json")};
  Option<std::string> reference{
      *this, "reference",
      llvm::cl::desc("The same model, tagged before an optimizer ran")};
  Option<bool> force{
      *this, "force",
      llvm::cl::desc("Proceed, with a warning, even if the trace or the "
                     "reference belongs to another model"),
      llvm::cl::init(false)};
  Option<std::string> explain{
      *this, "explain",
      llvm::cl::desc("Explain in remarks why this node (given by its name "
                     "or by that of one of its values) gets its tag")};
  Option<std::string> numbers{
      *this, "numbers",
      llvm::cl::desc("Parameters of the alignment to change for an experiment: "
                     "name=value,… (docs/Alignment.md)")};
  Option<bool> torchNN{
      *this, "torch-nn",
      llvm::cl::desc("Keep the classes of torch.nn as components of tags"),
      llvm::cl::init(false)};
  Option<std::string> policy{*this, "policy",
                             llvm::cl::desc("Rules for conflicts, as JSON")};
  Option<std::string> overrides{
      *this, "overrides",
      llvm::cl::desc("Modules of single nodes, as JSON: node name to module")};
};

/// --htp-tag: attach the hierarchy, align, propagate, resolve, verify. Steps
/// whose input is not given are left out; without any, only the model itself is
/// used.
void buildTagPipeline(mlir::OpPassManager &pm,
                      const TagPipelineOptions &options);

void registerHTPPipelines();

} // namespace htp

#endif // HTP_PIPELINES_PIPELINES_H
