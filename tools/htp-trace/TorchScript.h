// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes traces of TorchScript archives (.pt) in two steps: load the module,
// then follow its graphs.

#ifndef HTP_TOOLS_TRACE_TORCHSCRIPT_H
#define HTP_TOOLS_TRACE_TORCHSCRIPT_H

#include "Archive.h"

#include <torch/csrc/jit/api/module.h>

namespace htp::trace {

/// Loads the module like torch::jit::load, with two differences: tensors stay
/// in the mapped file, and `__setstate__` is never run (attributes that it
/// would have set stay None).
torch::jit::Module loadTorchScript(Archive &archive);

/// Reads one `.debug_pkl` record, which maps ranges of the archive's code back
/// to the Python code that was traced or scripted.
std::shared_ptr<torch::jit::SourceRangeUnpickler>
readDebugRanges(llvm::StringRef record);

/// The line of the model's Python code behind a range of the archive's code, if
/// the archive has debug records.
std::optional<Source> modelSource(const torch::jit::SourceRange &range);

/// Follows `forward` of the archive's module, without running it.
Trace traceTorchScript(Archive &archive, bool hash);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_TORCHSCRIPT_H
