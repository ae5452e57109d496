// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tags of a model amount to, counted on the tags themselves and never
// reported by whoever set them.

#ifndef HTP_ANALYSIS_TAGSTATISTICS_H
#define HTP_ANALYSIS_TAGSTATISTICS_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/Scopes.h"
#include "HTP/Hierarchy/TagNames.h"

#include "llvm/ADT/MapVector.h"

#include <array>

namespace htp {

/// A node whose own names place it in one layer and whose tag names another.
struct Contamination {
  mlir::Operation *op;
  std::string named;  ///< the path that its names tell
  std::string source; ///< the name that tells it
};

struct TagStatistics {
  size_t nodes = 0;
  size_t tagged = 0;
  /// Tagged nodes by what their tag rests on, in the order of appearance.
  llvm::MapVector<llvm::StringRef, size_t> evidence;
  /// Tagged nodes by confidence: below 0.1, below 0.2, …, at least 0.9.
  std::array<size_t, 10> confidence = {};
  std::vector<Contamination> contaminated;

  /// Tagged nodes by all nodes; 1 for a model without nodes.
  double coverage() const {
    return nodes ? static_cast<double>(tagged) / nodes : 1.0;
  }

  /// In one line: "nodes 12, tagged 12, evidence: name 10, producer 2, …".
  std::string summary() const;
};

/// Counts tags against a tree. The tree and its tags must outlive this.
class TagCounter {
public:
  TagCounter(const ModuleTree &tree, const TagNames &tags)
      : tree(tree), tags(tags), scopes(tree) {}

  /// A node that needs a tag, its absolute one, or null, and the tag's module,
  /// where it is in the tree.
  void add(mlir::Operation *op, TagAttr tag, std::optional<ModuleId> module);

  TagStatistics statistics;

private:
  const ModuleTree &tree;
  const TagNames &tags;
  ScopeResolver scopes;
};

/// Counts all nodes of `module`.
TagStatistics countTags(mlir::ModuleOp module, const ModuleTree &tree);

/// Whether two tags name different layers: somewhere they have the same class
/// with another number (BertLayer.0 and BertLayer.1).
bool inOtherLayer(llvm::StringRef tag, llvm::StringRef other);

} // namespace htp

#endif // HTP_ANALYSIS_TAGSTATISTICS_H
