// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of HTP's own resolution patterns.

#ifndef HTP_LIB_TRANSFORMS_RESOLUTION_RESOLUTIONPATTERNS_H
#define HTP_LIB_TRANSFORMS_RESOLUTION_RESOLUTIONPATTERNS_H

#include "HTP/Transforms/Resolution.h"

namespace htp {

/// HTP's own patterns, in the order in which they are asked.
void addBuiltinPatterns(
    std::vector<std::pair<std::string, ResolutionPatternFactory>> &patterns);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_RESOLUTION_RESOLUTIONPATTERNS_H
