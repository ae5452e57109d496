// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the dataflow graph of a block into nested convex parts, one or more for
// each group of a tree of groups. Outlining uses it to turn tagged ops into
// functions. Knows nothing of MLIR.

#ifndef HTP_PARTITION_PARTITION_H
#define HTP_PARTITION_PARTITION_H

#include "llvm/ADT/ArrayRef.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace htp {

/// How partitioning may treat an op.
enum class OpRole : uint8_t {
  Op,       ///< belongs to its group
  Constant, ///< reads nothing: goes wherever all of its users are
  Pinned,   ///< stays at the top level: an initializer or a copy of one
  Weight, ///< stays at the top level, and ops that read it stay in their group
};

/// The dataflow between ops 0 .. n-1, numbered in topological order.
class DataflowGraph {
public:
  explicit DataflowGraph(unsigned numOps)
      : roles(numOps, OpRole::Op), escaping(numOps, false) {}

  unsigned size() const { return roles.size(); }

  /// `to` reads a result of `from`. Edges must be added sorted by `to`.
  void addEdge(unsigned from, unsigned to);
  void setRole(unsigned op, OpRole role) {
    assert(op < size() && "no such op");
    roles[op] = role;
  }
  /// A result of the op is used outside of the block.
  void setEscapes(unsigned op) {
    assert(op < size() && "no such op");
    escaping[op] = true;
  }
  /// Call once, after the last edge; builds the lists of users.
  void finish();

  llvm::ArrayRef<unsigned> producers(unsigned op) const {
    return slice(producerBegin, producerList, op);
  }
  llvm::ArrayRef<unsigned> users(unsigned op) const {
    return slice(userBegin, userList, op);
  }
  OpRole role(unsigned op) const {
    assert(op < size() && "no such op");
    return roles[op];
  }
  bool escapes(unsigned op) const { return escaping[op]; }

private:
  static llvm::ArrayRef<unsigned> slice(const std::vector<unsigned> &begin,
                                        const std::vector<unsigned> &list,
                                        unsigned i) {
    assert(i + 1 < begin.size() && "no such op, or finish() was not called");
    return llvm::ArrayRef(list).slice(begin[i], begin[i + 1] - begin[i]);
  }

  std::vector<OpRole> roles;
  std::vector<bool> escaping;
  std::vector<unsigned> producerBegin{0}, producerList;
  std::vector<unsigned> userBegin, userList;
};

/// A tree of groups; group 0 is the root, and parents come before children.
struct GroupTree {
  std::vector<unsigned> parent{0};
  std::vector<unsigned> depth{0};
  /// Groups of equal kind are alike, such as layers.
  std::vector<unsigned> kind{0};

  unsigned add(unsigned parentGroup, unsigned groupKind = 0) {
    assert(parentGroup < size() && "parents are added before children");
    parent.push_back(parentGroup);
    depth.push_back(depth[parentGroup] + 1);
    kind.push_back(groupKind);
    return parent.size() - 1;
  }
  unsigned size() const { return parent.size(); }
};

/// A convex set of ops of one group, or the whole block (part 0).
struct Part {
  struct Item {
    bool isPart;
    unsigned index; ///< of an op or of a part
  };
  unsigned group = 0;
  /// 0 for the first part of a group, 1 for the second, …
  unsigned ordinal = 0;
  unsigned parent = 0; ///< the enclosing part
  /// All ops in it, nested ones included, sorted.
  std::vector<unsigned> members;
  std::vector<Item> items; ///< its own ops and nested parts, in a valid order
};

/// A group that had to be split, as it is not convex: dataflow leaves it and
/// comes back.
struct Split {
  unsigned group;
  unsigned parts;
  /// Ops on a path that leaves the first part (`leaves`), runs outside
  /// (`through`) and enters the second part (`returns`). `leaves` is empty if
  /// there is no such path and the split was due to two groups that depend on
  /// each other.
  std::optional<unsigned> leaves;
  unsigned through, returns;
};

struct Partition {
  std::vector<Part> parts; ///< parents first; part 0 is the whole block
  std::vector<Split> splits;
  unsigned pulled = 0;  ///< ops that moved into a group (not constants)
  unsigned hoisted = 0; ///< ops that moved out of one that others need too
};

/// Cuts `graph` into nested parts. `groupOf[op]` is the group of each op.
///
/// Within a part, nested groups are scheduled as units: one whose inputs are
/// all available is emitted as a whole. Four things happen on the way:
/// - An op that needs nothing from its group and is also read by groups of the
///   same kind moves out: an attention mask that an exporter computes in the
///   first layer for all of them. An op that reads a weight stays.
/// - A constant moves into a group if all of its users are there.
/// - An op between two ops of a group (it reads from the group, and only the
///   group reads it) is pulled into the group.
/// - If every unit waits for another, dataflow leaves some group and comes
///   back. That group is split after as many of its ops as can be emitted. For
///   a single group this yields the fewest convex parts, which is the largest
///   number of times that any path enters it.
/// Parts of fewer than `minOps` ops, constants not counted, dissolve into the
/// enclosing part. Takes about as long as sorting the ops once per nesting
/// level.
Partition partition(const DataflowGraph &graph, const GroupTree &groups,
                    std::vector<unsigned> groupOf, unsigned minOps);

} // namespace htp

#endif // HTP_PARTITION_PARTITION_H
