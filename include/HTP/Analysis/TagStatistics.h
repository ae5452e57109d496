// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics about the tags of a model. They are counted on the tags
// themselves, so that no pass grades its own work.

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
  std::string named;  ///< the path that its names imply
  std::string source; ///< the name that implies it
};

struct TagStatistics {
  size_t nodes = 0;
  size_t tagged = 0;
  /// Number of tagged nodes by kind of evidence, in order of first appearance.
  llvm::MapVector<llvm::StringRef, size_t> evidence;
  /// Number of tagged nodes by confidence: below 0.1, below 0.2, …, at least
  /// 0.9.
  std::array<size_t, 10> confidence = {};
  std::vector<Contamination> contaminated;

  /// The share of nodes that are tagged; 1 for a model without nodes.
  double coverage() const {
    return nodes ? static_cast<double>(tagged) / nodes : 1.0;
  }

  /// One line: "nodes 12, tagged 12, evidence: name 10, producer 2, …".
  std::string summary() const;
};

/// Counts tags against a tree. The tree and its tags must outlive this.
class TagCounter {
public:
  TagCounter(const ModuleTree &tree, const TagNames &tags)
      : tree(tree), tags(tags), scopes(tree) {}

  /// Counts one node that needs a tag. `tag` is its absolute tag, or null;
  /// `module` is the tag's module if the tree has it.
  void add(mlir::Operation *op, TagAttr tag, std::optional<ModuleId> module);

  TagStatistics statistics;

private:
  const ModuleTree &tree;
  const TagNames &tags;
  ScopeResolver scopes;
};

/// Counts all nodes of `module`.
TagStatistics countTags(mlir::ModuleOp module, const ModuleTree &tree);

/// Whether two tags name different layers: some component has the same class
/// but a different number (BertLayer.0 and BertLayer.1).
bool inOtherLayer(llvm::StringRef tag, llvm::StringRef other);

} // namespace htp

#endif // HTP_ANALYSIS_TAGSTATISTICS_H
