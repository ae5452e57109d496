// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tunable numbers of the alignment. Parameters.inc documents each of them.

#ifndef HTP_ALIGNMENT_PARAMETERS_H
#define HTP_ALIGNMENT_PARAMETERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace htp {

struct AlignmentParameters {
#define HTP_PARAMETER(type, name, value, neutral, unit, meaning)               \
  type name = value;
#include "HTP/Alignment/Parameters.inc"

  /// Sets parameters by name, for experiments: "skip=0,beam=30".
  llvm::Error set(llvm::StringRef assignments);
};

} // namespace htp

#endif // HTP_ALIGNMENT_PARAMETERS_H
