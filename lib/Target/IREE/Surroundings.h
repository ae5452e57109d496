// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs before the first layer and after the last one, as files of their
// own.
//
// A model of which one layer changed calls another function at one place, so
// its main file is compiled again. What takes the time there is not the calls
// but the kernels around them: the embedding, the mask, the head. In files of
// their own they come from the cache.

#ifndef HTP_LIB_TARGET_IREE_SURROUNDINGS_H
#define HTP_LIB_TARGET_IREE_SURROUNDINGS_H

#include "Layers.h"

namespace htp {

/// Moves what layers need and which needs none, and what no layer needs, out of
/// the main function of a model with layers.
void separateSurroundings(LayeredModel &model);

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_SURROUNDINGS_H
