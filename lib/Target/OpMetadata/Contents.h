// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What modules consist of, by kind: of a model of 26,000 nodes a few hundred
// lines, from which its costs are added up in no time.

#ifndef LIB_TARGET_OPMETADATA_CONTENTS_H
#define LIB_TARGET_OPMETADATA_CONTENTS_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <tuple>

namespace htp {

/// Counts operations and weights that are alike.
class ModuleContents {
public:
  explicit ModuleContents(const TaggedGraph &graph);

  /// The attributes "kinds", "operations" and "weights" of an object.
  void write(llvm::json::OStream &json) const;

private:
  /// Module (-1: none), kind, evidence (-1: none), confidence, contested.
  using Group = std::tuple<int64_t, unsigned, int64_t, double, bool>;
  /// Modules that read it, the parameter's owner (-1: none), type.
  using Weight = std::tuple<std::vector<ModuleId>, int64_t, const void *>;

  unsigned kindOf(const TaggedGraph::Node &node);
  mlir::Type typeOf(TaggedGraph::ValueRef ref) const;
  void writeKind(const TaggedGraph::Node &node,
                 llvm::json::OStream &json) const;
  void writeType(mlir::Type type, llvm::json::OStream &json) const;
  void writeWeight(const Weight &weight, int64_t count,
                   llvm::json::OStream &json) const;

  const TaggedGraph &graph;
  llvm::StringMap<unsigned> numbers;
  std::vector<const TaggedGraph::Node *> kinds; ///< the first of each
  std::map<Group, int64_t> groups;
  llvm::MapVector<Weight, int64_t, std::map<Weight, unsigned>> weights;
};

} // namespace htp

#endif // LIB_TARGET_OPMETADATA_CONTENTS_H
