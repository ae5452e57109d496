// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the dataflow graph of a block into nested convex parts, one for each
// group of a tree of groups: what stands between tagged ops and functions.

#ifndef HTP_PARTITION_PARTITION_H
#define HTP_PARTITION_PARTITION_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace htp {

/// What an op may do when modules are cut out.
enum class OpRole : uint8_t {
  Op,       ///< belongs to its group
  Constant, ///< reads nothing: goes wherever all of its users are
  Pinned,   ///< stays at the top: an initializer, a copy of one
  Weight,   ///< stays at the top, and what reads it belongs to its module
};

/// The dataflow between ops 0 .. n-1, numbered so that each comes after what it
/// reads.
class Dataflow {
public:
  explicit Dataflow(unsigned numOps)
      : roles(numOps, OpRole::Op), escaping(numOps, false) {}

  unsigned size() const { return roles.size(); }

  /// `to` reads what `from` makes. Edges come sorted by `to`.
  void addEdge(unsigned from, unsigned to);
  void setRole(unsigned op, OpRole role) { roles[op] = role; }
  /// The op's value leaves the block.
  void setEscapes(unsigned op) { escaping[op] = true; }
  /// Call once, after the last edge.
  void finish();

  llvm::ArrayRef<unsigned> producers(unsigned op) const {
    return slice(producerBegin, producerList, op);
  }
  llvm::ArrayRef<unsigned> users(unsigned op) const {
    return slice(userBegin, userList, op);
  }
  OpRole role(unsigned op) const { return roles[op]; }
  bool escapes(unsigned op) const { return escaping[op]; }

private:
  static llvm::ArrayRef<unsigned> slice(const std::vector<unsigned> &begin,
                                        const std::vector<unsigned> &list,
                                        unsigned i) {
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
  std::vector<unsigned> kind{0}; ///< groups of one kind are alike: layers

  unsigned add(unsigned parentGroup, unsigned groupKind = 0) {
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
  unsigned ordinal = 0;          ///< 1 for the second part of a split group
  unsigned parent = 0;           ///< the part that it lies in
  std::vector<unsigned> members; ///< all ops in it, sorted
  std::vector<Item> items;       ///< its own ops and parts, in a valid order
};

/// A group that is not convex: its dataflow leaves it and comes back.
struct Split {
  unsigned group;
  unsigned parts;
  /// The way out and back, between the first two parts. `leaves` is missing
  /// where no single path goes out and back, but two groups need each other.
  std::optional<unsigned> leaves;
  unsigned through, returns;
};

struct Partition {
  std::vector<Part> parts; ///< parents first; part 0 is the whole block
  std::vector<Split> splits;
  unsigned pulled = 0;  ///< ops that moved into a group (not constants)
  unsigned hoisted = 0; ///< ops that moved out of one, as others need them too
};

/// Cuts `graph` into nested parts. `groupOf` says where each op belongs.
///
/// Within a part, children are scheduled as units: a child whose inputs are all
/// there is emitted as a whole. Four things happen on the way:
/// - An op that needs nothing of its child, and that children of the same kind
///   read as well, moves out: an attention mask that an exporter computes in
///   the first layer, for all of them. An op that reads a weight stays.
/// - A constant goes into a child if all of its users are there.
/// - An op between two ops of a child (it reads from the child, and only the
///   child reads it) is pulled into the child.
/// - Where every unit waits for another, the dataflow leaves some child and
///   comes back: it is split, after as many of its ops as can be emitted. For
///   one child this gives the fewest convex parts: as many as the most often
///   leaving path has stays.
/// Parts of fewer than `minOps` ops (constants do not count) dissolve into the
/// part around them. The cost is that of sorting the ops once a level.
Partition partition(const Dataflow &graph, const GroupTree &groups,
                    std::vector<unsigned> groupOf, unsigned minOps);

} // namespace htp

#endif // HTP_PARTITION_PARTITION_H
