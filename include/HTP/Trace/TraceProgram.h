// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a trace into the form that the alignment takes.

#ifndef HTP_TRACE_TRACEPROGRAM_H
#define HTP_TRACE_TRACEPROGRAM_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Trace/Trace.h"

#include <deque>

namespace htp {

/// The traced ops as steps, including those in bodies of control flow. A step's
/// module is the ModuleId in the trace's tree. Owns the strings that the
/// program refers to; the trace must outlive it.
struct TraceProgram {
  explicit TraceProgram(const Trace &trace);

  const Trace &trace;
  Program program;

private:
  std::deque<std::string> strings;
};

/// The program for the trace in `file` (see loadTrace), built once per process,
/// perhaps in the background by a TracePrefetch.
llvm::Expected<std::shared_ptr<const TraceProgram>>
loadTraceProgram(llvm::StringRef file);

} // namespace htp

#endif // HTP_TRACE_TRACEPROGRAM_H
