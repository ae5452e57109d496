// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics about a model's tags, as the output files report them.

#ifndef HTP_TARGET_GRAPHSTATISTICS_H
#define HTP_TARGET_GRAPHSTATISTICS_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/ADT/MapVector.h"

namespace htp {

/// Counted on the tagged model, independently of the passes that tagged it.
struct GraphStatistics {
  /// Tags with one kind of evidence.
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
  size_t shared = 0;    ///< used by several modules, which its tag lists
  size_t contested = 0; ///< there was evidence for other modules, too
  /// Nodes whose names place them in another layer than their tags do.
  size_t contaminated = 0;
  double confidence = 0; ///< mean of all tagged nodes
  size_t functions = 0;  ///< called ones only
  size_t calls = 0;      ///< of these functions
  /// Strongest kind first, then unknown kinds by name.
  llvm::MapVector<llvm::StringRef, Evidence> evidence;
  /// Number of nodes, constants excluded, of each module without and with its
  /// submodules.
  std::vector<size_t> own, total;

  /// The share of nodes with a tag; 1 for a model without nodes.
  double coverage() const { return nodes ? double(tagged) / nodes : 1.0; }
  /// The share of nodes below the root; 1 for a model of a single module, where
  /// no node can be.
  double placedShare() const {
    return nodes && total.size() > 1 ? double(placed) / nodes : 1.0;
  }
};

} // namespace htp

#endif // HTP_TARGET_GRAPHSTATISTICS_H
