// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace as a program to align a graph with.

#ifndef HTP_HIERARCHY_TRACEPROGRAM_H
#define HTP_HIERARCHY_TRACEPROGRAM_H

#include "HTP/Hierarchy/Alignment.h"
#include "HTP/Hierarchy/Trace.h"

#include <deque>

namespace htp {

/// The traced ops as steps, bodies of control flow included. A step's module
/// is the ModuleId in the trace's tree. Holds the strings that the program
/// refers to; the trace must outlive it.
struct TraceProgram {
  explicit TraceProgram(const Trace &trace);

  const Trace &trace;
  Program program;

private:
  std::deque<std::string> strings;
};

/// The program of the trace that loadTrace reads from `file`, made once per
/// process; in the background by a TracePrefetch.
llvm::Expected<std::shared_ptr<const TraceProgram>>
loadTraceProgram(llvm::StringRef file);

} // namespace htp

#endif // HTP_HIERARCHY_TRACEPROGRAM_H
