// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often an answer is right, by what it rests on. The figures are fitted on
// the corpus (evaluation/confidence.py), not chosen.

#ifndef HTP_ALIGNMENT_CONFIDENCE_H
#define HTP_ALIGNMENT_CONFIDENCE_H

#include "HTP/Alignment/Alignment.h"

namespace htp {

/// Of an aligned node.
double alignedConfidence(const AlignedNode &node);

/// Of an answer that was voted by neighbours ("producer", "consumer",
/// "ancestor") or read directly ("metadata", "name", …).
double evidenceConfidence(llvm::StringRef evidence);

} // namespace htp

#endif // HTP_ALIGNMENT_CONFIDENCE_H
