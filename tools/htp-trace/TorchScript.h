// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TorchScript archives (.pt): from the archive to a trace, in two steps.

#ifndef HTP_TOOLS_TRACE_TORCHSCRIPT_H
#define HTP_TOOLS_TRACE_TORCHSCRIPT_H

#include "Archive.h"

#include <torch/csrc/jit/api/module.h>

namespace htp::trace {

/// Loads the module as torch::jit::load does, with two differences: tensors
/// stay in the mapped file, and no `__setstate__` of the archive runs (what it
/// would have set stays None).
torch::jit::Module loadTorchScript(Archive &archive);

/// The source range generator of one `.debug_pkl` record: it maps ranges of the
/// archive's code back to the Python code that was traced or scripted.
std::shared_ptr<torch::jit::SourceRangeUnpickler>
readDebugRanges(llvm::StringRef record);

/// The line of the model's Python code that a range of the archive's code was
/// traced or scripted from, where the archive has debug records.
std::optional<Source> modelSource(const torch::jit::SourceRange &range);

/// Follows `forward` of the archive's module, without running it.
Trace traceTorchScript(Archive &archive, bool hash);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_TORCHSCRIPT_H
