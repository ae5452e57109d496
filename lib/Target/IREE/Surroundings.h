// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves what runs before the first layer and after the last one into separate
// files.
//
// If one layer changes, the main file calls another function and must be
// compiled again. Most of that time goes into the kernels around the layers
// (the embedding, the mask, the head). In separate files these come from the
// cache.

#ifndef HTP_LIB_TARGET_IREE_SURROUNDINGS_H
#define HTP_LIB_TARGET_IREE_SURROUNDINGS_H

#include "Layers.h"

namespace htp {

/// Moves ops that layers depend on but that depend on no layer, and ops that no
/// layer depends on, out of the main function.
void separateSurroundings(LayeredModel &model);

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_SURROUNDINGS_H
