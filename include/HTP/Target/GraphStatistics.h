// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the outputs say about the tags as a whole.

#ifndef HTP_TARGET_GRAPHSTATISTICS_H
#define HTP_TARGET_GRAPHSTATISTICS_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/ADT/MapVector.h"

namespace htp {

/// Counted on a tagged model, not reported by the passes that tagged it.
struct GraphStatistics {
  /// Answers that rest on one kind of evidence.
  struct Evidence {
    size_t nodes = 0;
    double confidence = 0; ///< mean
  };

  explicit GraphStatistics(const TaggedGraph &graph);

  size_t nodes = 0; ///< constants included, initializers not
  size_t constants = 0;
  size_t initializers = 0;
  size_t tagged = 0;
  size_t placed = 0;    ///< tagged with a module below the root
  size_t shared = 0;    ///< used by several modules, which it lists
  size_t contested = 0; ///< evidence spoke for other modules, too
  /// Whose own names place them in another layer than their tags.
  size_t contaminated = 0;
  double confidence = 0; ///< mean of all tagged nodes
  size_t functions = 0;  ///< that are called
  size_t calls = 0;      ///< of those
  /// Strongest first, then what is unknown here by name.
  llvm::MapVector<llvm::StringRef, Evidence> evidence;
  /// Nodes without constants, for each module: its own, and with all below.
  std::vector<size_t> own, total;

  /// 1 for a model without nodes: nothing lacks a tag.
  double coverage() const { return nodes ? double(tagged) / nodes : 1.0; }
  /// 1 for a model that is a single module, where nothing can be placed.
  double placedShare() const {
    return nodes && total.size() > 1 ? double(placed) / nodes : 1.0;
  }
};

} // namespace htp

#endif // HTP_TARGET_GRAPHSTATISTICS_H
