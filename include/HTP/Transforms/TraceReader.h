// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interface through which a driver learns what a pass will read.

#ifndef HTP_TRANSFORMS_TRACEREADER_H
#define HTP_TRANSFORMS_TRACEREADER_H

#include "llvm/ADT/StringRef.h"

namespace htp {

/// A pass that reads a trace. A driver may start to read the file
/// (TracePrefetch) while it reads the model; creating the pass reads nothing.
class TraceReader {
public:
  virtual ~TraceReader() = default;

  /// Empty if the pass has none.
  virtual llvm::StringRef traceFile() const = 0;
};

} // namespace htp

#endif // HTP_TRANSFORMS_TRACEREADER_H
