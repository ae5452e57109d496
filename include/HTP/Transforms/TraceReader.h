// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a driver can know of a pass before it runs.

#ifndef HTP_TRANSFORMS_TRACEREADER_H
#define HTP_TRANSFORMS_TRACEREADER_H

#include "llvm/ADT/StringRef.h"

namespace htp {

/// A pass that reads a trace. A driver may read the file ahead (TracePrefetch)
/// while it reads the model; building or adding the pass reads nothing.
class TraceReader {
public:
  virtual ~TraceReader() = default;

  /// Empty where the pass was given none.
  virtual llvm::StringRef traceFile() const = 0;
};

} // namespace htp

#endif // HTP_TRANSFORMS_TRACEREADER_H
