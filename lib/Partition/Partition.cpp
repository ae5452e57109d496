// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules the ops of one nesting level at a time, emits groups as units, and
// splits a group when no unit can be emitted as a whole. See Partition.h.

#include "HTP/Partition/Partition.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/DebugLog.h"

#include <cassert>
#include <queue>
#include <set>

#define DEBUG_TYPE "htp-partition"

using namespace llvm;

namespace htp {

void DataflowGraph::addEdge(unsigned from, unsigned to) {
  assert(to < size() && "no such op");
  assert(from < to && "an op must come after what it reads");
  assert(to + 1 >= producerBegin.size() && "edges come sorted by reader");
  producerBegin.resize(to + 1, producerList.size());
  producerList.push_back(from);
}

void DataflowGraph::finish() {
  assert(userBegin.empty() && "finish() is called once");
  producerBegin.resize(size() + 1, producerList.size());
  userBegin.assign(size() + 1, 0);
  for (unsigned from : producerList)
    ++userBegin[from + 1];
  for (unsigned i = 0; i < size(); ++i)
    userBegin[i + 1] += userBegin[i];
  userList.resize(producerList.size());
  std::vector<unsigned> next(userBegin.begin(), userBegin.end() - 1);
  for (unsigned op = 0; op < size(); ++op)
    for (unsigned from : producers(op))
      userList[next[from]++] = op;
}

namespace {

constexpr unsigned kNone = ~0u;

/// Bounds that keep pathological graphs linear: how many groups are tried when
/// one must be split, and how many ops the search for an explanation visits.
constexpr unsigned kMaxCandidates = 32;
constexpr unsigned kMaxVisited = 4096;

/// Finds the child of a group that contains another group, in logarithmic time.
/// Walking up would cost the depth of the tree, per op and level.
class ChildSearch {
public:
  explicit ChildSearch(const GroupTree &groups)
      : first(groups.size()), end(groups.size()), childBegin(groups.size() + 1),
        children(groups.size()) {
    // Parents come before children, so a backward pass computes subtree sizes,
    // and a forward pass assigns preorder numbers.
    std::vector<unsigned> sizes(groups.size(), 1);
    for (unsigned group = groups.size() - 1; group > 0; --group) {
      assert(groups.parent[group] < group && "parents come before children");
      sizes[groups.parent[group]] += sizes[group];
      ++childBegin[groups.parent[group] + 1];
    }
    for (unsigned group = 0; group < groups.size(); ++group)
      childBegin[group + 1] += childBegin[group];
    std::vector<unsigned> next(childBegin.begin(), childBegin.end() - 1);
    end[0] = 1;
    for (unsigned group = 1; group < groups.size(); ++group) {
      const unsigned parent = groups.parent[group];
      children[next[parent]++] = group;
      first[group] = end[parent];
      end[parent] += sizes[group];
      end[group] = first[group] + 1; // grows as its children are visited
    }
  }

  /// The child of `parent` that is or contains `group`, or kNone.
  unsigned towards(unsigned parent, unsigned group) const {
    assert(parent < first.size() && group < first.size() && "no such group");
    if (first[group] <= first[parent] || first[group] >= end[parent])
      return kNone;
    auto begin = children.begin() + childBegin[parent];
    auto after = std::upper_bound(
        begin, children.begin() + childBegin[parent + 1], first[group],
        [&](unsigned number, unsigned child) { return number < first[child]; });
    return *std::prev(after);
  }

private:
  std::vector<unsigned> first, end; ///< preorder range of a group's subtree
  std::vector<unsigned> childBegin, children;
};

/// Cuts one part after the other, parents first. Vectors indexed by op or group
/// are allocated once, and each level initializes the entries it uses.
class Partitioner {
public:
  Partitioner(const DataflowGraph &graph, const GroupTree &groups,
              std::vector<unsigned> groupOf, unsigned minOps)
      : graph(graph), groups(groups), search(groups), minOps(minOps),
        groupOf(std::move(groupOf)), owner(graph.size(), 0),
        child(graph.size(), kNone), waiting(graph.size()),
        emittedAt(graph.size()), state(groups.size()) {}

  Partition run() {
    result.parts.emplace_back();
    for (unsigned op = 0; op < graph.size(); ++op)
      result.parts[0].members.push_back(op);
    // cutLevel appends nested parts, which are then cut in turn.
    for (current = 0; current < result.parts.size(); ++current)
      cutLevel();
    return std::move(result);
  }

private:
  /// The state of a child group while its parent is being cut.
  struct ChildState {
    std::vector<unsigned> members; ///< not yet emitted ones, sorted
    std::vector<unsigned> ready;   ///< members with all inputs available
    unsigned waiting = 0;          ///< edges into it from unemitted ops
    unsigned parts = 0;            ///< number of parts emitted so far
    unsigned lastEnd = 0;          ///< when the last part was emitted
    std::optional<Split> split;
  };
  /// A unit that can be emitted as a whole, ordered by its first op.
  using Unit = std::pair<unsigned /*position*/, unsigned /*group or kNone*/>;

  bool inLevel(unsigned op) const { return owner[op] == current; }
  bool isPinned(unsigned op) const {
    return graph.role(op) == OpRole::Pinned || graph.role(op) == OpRole::Weight;
  }
  /// The single child, according to `childOf`, that all users of `op` belong
  /// to, or kNone.
  template <typename Fn> unsigned commonUser(unsigned op, Fn childOf) const;

  void cutLevel();
  void assignChildren();
  void hoistShared();
  bool sharedWithKin(unsigned op) const;
  void pullInside();
  void placeConstants();
  void countWaiting();
  void emit(unsigned op);
  void emitPart(unsigned group, std::vector<unsigned> members);
  void emitWhole(unsigned group);
  void breakDeadlock();
  std::vector<unsigned> prefix(unsigned group) const;
  bool unlocksOther(unsigned group, ArrayRef<unsigned> ops) const;
  Split explain(unsigned group, ArrayRef<unsigned> members) const;

  const DataflowGraph &graph;
  const GroupTree &groups;
  const ChildSearch search;
  const unsigned minOps;
  Partition result;

  // By op.
  std::vector<unsigned> groupOf; ///< updated as ops are pulled inside
  std::vector<unsigned> owner;   ///< the innermost part so far
  std::vector<unsigned> child;   ///< its child group of `current`, or kNone
  std::vector<unsigned> waiting, emittedAt;
  // By group.
  std::vector<ChildState> state;
  // Of the level.
  unsigned current = 0, clock = 0, left = 0;
  std::vector<unsigned> children;
  std::priority_queue<Unit, std::vector<Unit>, std::greater<Unit>> whole;
  std::set<Unit> startable; ///< children with ready members
};

template <typename Fn>
unsigned Partitioner::commonUser(unsigned op, Fn childOf) const {
  unsigned common = kNone;
  if (graph.escapes(op))
    return kNone;
  for (unsigned user : graph.users(op)) {
    unsigned group = inLevel(user) ? childOf(user) : kNone;
    if (group == kNone || (common != kNone && common != group))
      return kNone;
    common = group;
  }
  return common;
}

void Partitioner::assignChildren() {
  const unsigned parent = result.parts[current].group;
  for (unsigned op : result.parts[current].members)
    child[op] = isPinned(op) ? kNone : search.towards(parent, groupOf[op]);
}

/// Whether `op` is read both by its own child and by another child of the same
/// kind.
bool Partitioner::sharedWithKin(unsigned op) const {
  bool own = false, kin = false;
  for (unsigned user : graph.users(op)) {
    if (!inLevel(user) || child[user] == kNone)
      continue;
    own |= child[user] == child[op];
    kin |= child[user] != child[op] &&
           groups.kind[child[user]] == groups.kind[child[op]];
  }
  return own && kin;
}

void Partitioner::hoistShared() {
  // Forward: find ops that need nothing from their child. Backward: hoist those
  // that children of the same kind read, and their inputs.
  ArrayRef<unsigned> members = result.parts[current].members;
  DenseSet<unsigned> free, hoisted;
  for (unsigned op : members)
    if (child[op] != kNone && graph.role(op) == OpRole::Op &&
        none_of(graph.producers(op), [&](unsigned producer) {
          return graph.role(producer) == OpRole::Weight ||
                 (inLevel(producer) && child[producer] == child[op] &&
                  graph.role(producer) == OpRole::Op &&
                  !free.contains(producer));
        }))
      free.insert(op);
  for (unsigned op : reverse(members))
    if (free.contains(op) &&
        (sharedWithKin(op) || any_of(graph.users(op), [&](unsigned user) {
           return hoisted.contains(user) && child[user] == child[op];
         })))
      hoisted.insert(op);
  for (unsigned op : members)
    if (hoisted.contains(op)) {
      LDBG() << "op " << op << " moves out of group " << child[op]
             << ", as groups of its kind read it too";
      child[op] = kNone;
      groupOf[op] = result.parts[current].group;
      ++result.hoisted;
    }
}

void Partitioner::pullInside() {
  // Backward: find ops that lead only into one child. Forward: those that also
  // read from it lie between its ops and are pulled in. Others merely prepare
  // an input and stay outside.
  ArrayRef<unsigned> members = result.parts[current].members;
  DenseMap<unsigned, unsigned> leadsInto;
  for (unsigned op : reverse(members)) {
    if (child[op] != kNone || graph.role(op) != OpRole::Op)
      continue;
    unsigned target = commonUser(op, [&](unsigned user) {
      if (child[user] != kNone)
        return child[user];
      auto it = leadsInto.find(user);
      return it == leadsInto.end() ? kNone : it->second;
    });
    if (target != kNone)
      leadsInto[op] = target;
  }
  if (leadsInto.empty())
    return;
  for (unsigned op : members) {
    auto it = leadsInto.find(op);
    if (it == leadsInto.end() || none_of(graph.producers(op), [&](unsigned p) {
          return inLevel(p) && child[p] == it->second;
        }))
      continue;
    LDBG() << "op " << op << " is pulled into group " << it->second
           << ", as it lies between its ops";
    child[op] = groupOf[op] = it->second;
    ++result.pulled;
  }
}

void Partitioner::placeConstants() {
  for (unsigned op : result.parts[current].members) {
    if (graph.role(op) != OpRole::Constant || graph.users(op).empty())
      continue;
    child[op] = commonUser(op, [&](unsigned user) { return child[user]; });
    groupOf[op] = child[op] != kNone ? child[op] : result.parts[current].group;
  }
}

void Partitioner::countWaiting() {
  children.clear();
  for (unsigned op : result.parts[current].members) {
    unsigned group = child[op];
    if (group != kNone) {
      if (state[group].members.empty()) {
        state[group] = ChildState();
        children.push_back(group);
      }
      state[group].members.push_back(op);
    }
    waiting[op] = 0;
    for (unsigned producer : graph.producers(op)) {
      if (!inLevel(producer))
        continue;
      ++waiting[op];
      if (group != kNone && child[producer] != group)
        ++state[group].waiting;
    }
  }
  for (unsigned op : result.parts[current].members) {
    if (waiting[op])
      continue;
    if (child[op] == kNone)
      whole.push({op, kNone});
    else
      state[child[op]].ready.push_back(op);
  }
  for (unsigned group : children) {
    Unit unit{state[group].members.front(), group};
    if (!state[group].waiting)
      whole.push(unit);
    if (!state[group].ready.empty())
      startable.insert(unit);
  }
}

void Partitioner::emit(unsigned op) {
  assert(left && waiting[op] == 0 && "an op comes after what it reads");
  emittedAt[op] = clock++;
  --left;
  for (unsigned user : graph.users(op)) {
    if (!inLevel(user))
      continue;
    unsigned group = child[user];
    assert(waiting[user] && "a user waits for each of its producers");
    bool ready = --waiting[user] == 0;
    if (group == kNone) {
      if (ready)
        whole.push({user, kNone});
      continue;
    }
    ChildState &waiter = state[group];
    if (ready) {
      if (waiter.ready.empty())
        startable.insert({waiter.members.front(), group});
      waiter.ready.push_back(user);
    }
    if (group != child[op] && --waiter.waiting == 0)
      whole.push({waiter.members.front(), group});
  }
}

void Partitioner::emitPart(unsigned group, std::vector<unsigned> members) {
  assert(!members.empty() && llvm::is_sorted(members) &&
         "a part has ops, in order");
  ChildState &unit = state[group];
  if (unit.parts == 1)
    unit.split = explain(group, members);
  unsigned numOps = count_if(
      members, [&](unsigned op) { return graph.role(op) != OpRole::Constant; });
  unsigned index = result.parts.size();
  // `emit` checks owners, so these change only when the level is done.
  for (unsigned op : members)
    emit(op);
  unit.lastEnd = clock;
  unsigned ordinal = unit.parts++;
  LDBG(2) << "part " << ordinal << " of group " << group << ": " << numOps
          << " ops without constants"
          << (numOps < minOps ? ", dissolved into the enclosing part" : "");
  if (numOps < minOps) {
    for (unsigned op : members)
      result.parts[current].items.push_back({false, op});
    return;
  }
  result.parts[current].items.push_back({true, index});
  Part &part = result.parts.emplace_back();
  part.group = group;
  part.ordinal = ordinal;
  part.parent = current;
  part.members = std::move(members);
}

void Partitioner::emitWhole(unsigned group) {
  ChildState &unit = state[group];
  startable.erase({unit.members.front(), group});
  std::vector<unsigned> members = std::move(unit.members);
  // `emit` reads the first member if another one becomes ready meanwhile.
  unit.members = {members.front()};
  emitPart(group, std::move(members));
  startable.erase({unit.members.front(), group});
  unit.members.clear();
  unit.ready.clear();
}

/// The ops of a waiting child that can be emitted right now.
std::vector<unsigned> Partitioner::prefix(unsigned group) const {
  std::vector<unsigned> ops(state[group].ready);
  DenseMap<unsigned, unsigned> stillWaiting;
  for (size_t i = 0; i < ops.size(); ++i)
    for (unsigned user : graph.users(ops[i])) {
      if (!inLevel(user) || child[user] != group)
        continue;
      auto [it, isNew] = stillWaiting.try_emplace(user, waiting[user]);
      if (--it->second == 0)
        ops.push_back(user);
    }
  llvm::sort(ops);
  return ops;
}

/// Whether another unit can be emitted as a whole once `ops` of `group` are.
bool Partitioner::unlocksOther(unsigned group, ArrayRef<unsigned> ops) const {
  DenseMap<unsigned, unsigned> waitingOps, waitingGroups;
  for (unsigned op : ops)
    for (unsigned user : graph.users(op)) {
      if (!inLevel(user) || child[user] == group)
        continue;
      bool isOp = child[user] == kNone;
      auto [it, isNew] = isOp ? waitingOps.try_emplace(user, waiting[user])
                              : waitingGroups.try_emplace(
                                    child[user], state[child[user]].waiting);
      if (--it->second == 0)
        return true;
    }
  return false;
}

void Partitioner::breakDeadlock() {
  // Splitting helps only if another unit waits for the child: look for one
  // whose first ops unblock another unit.
  assert(!startable.empty() && "a cycle in the dataflow");
  unsigned chosen = startable.begin()->second;
  std::vector<unsigned> ops;
  unsigned tried = 0;
  for (const Unit &unit : startable) {
    ops = prefix(unit.second);
    if (unlocksOther(unit.second, ops)) {
      chosen = unit.second;
      break;
    }
    if (++tried == kMaxCandidates)
      break;
  }
  ops = prefix(chosen);
  ChildState &split = state[chosen];
  startable.erase({split.members.front(), chosen});
  std::vector<unsigned> rest;
  std::set_difference(split.members.begin(), split.members.end(), ops.begin(),
                      ops.end(), std::back_inserter(rest));
  assert(!rest.empty() && "a child without outside inputs is emitted whole");
  LDBG() << "group " << chosen << " is split after " << ops.size() << " ops, "
         << rest.size() << " wait for ops outside; " << tried
         << " other groups would have unblocked nothing";
  split.members = std::move(rest);
  split.ready.clear();
  emitPart(chosen, std::move(ops));
  // Members that became ready meanwhile were all part of the prefix.
  startable.erase({split.members.front(), chosen});
  split.ready.clear();
}

/// Finds how dataflow gets from the first part of `group` to its second.
Split Partitioner::explain(unsigned group, ArrayRef<unsigned> members) const {
  const unsigned since = state[group].lastEnd;
  auto between = [&](unsigned op) {
    return inLevel(op) && child[op] != group && emittedAt[op] >= since;
  };
  Split split{group, 2, std::nullopt, members.front(), members.front()};
  DenseSet<unsigned> seen;
  SmallVector<unsigned> path;
  bool found = false;
  for (unsigned op : members)
    for (unsigned entry : graph.producers(op)) {
      if (!between(entry) || !seen.insert(entry).second)
        continue;
      if (!found) {
        split.through = entry;
        split.returns = op;
        found = true;
      }
      path.assign(1, entry);
      while (!path.empty() && seen.size() < kMaxVisited) {
        unsigned outside = path.pop_back_val();
        for (unsigned producer : graph.producers(outside)) {
          if (inLevel(producer) && child[producer] == group) {
            split.leaves = producer;
            split.through = outside;
            split.returns = op;
            return split;
          }
          if (between(producer) && seen.insert(producer).second)
            path.push_back(producer);
        }
      }
    }
  return split;
}

void Partitioner::cutLevel() {
  assignChildren();
  hoistShared();
  pullInside();
  placeConstants();
  clock = 0;
  left = result.parts[current].members.size();
  const unsigned firstNew = result.parts.size();
  countWaiting();
  while (left) {
    if (whole.empty()) {
      breakDeadlock();
      continue;
    }
    auto [position, group] = whole.top();
    whole.pop();
    if (group == kNone) {
      emit(position);
      result.parts[current].items.push_back({false, position});
    } else if (!state[group].members.empty()) {
      emitWhole(group);
    }
  }
  for (unsigned group : children)
    if (state[group].split) {
      state[group].split->parts = state[group].parts;
      result.splits.push_back(*state[group].split);
    }
  for (unsigned i = firstNew; i < result.parts.size(); ++i)
    for (unsigned op : result.parts[i].members)
      owner[op] = i;
}

} // namespace

Partition partition(const DataflowGraph &graph, const GroupTree &groups,
                    std::vector<unsigned> groupOf, unsigned minOps) {
  assert(groupOf.size() == graph.size() && "each op has a group");
  assert(llvm::all_of(groupOf,
                      [&](unsigned group) { return group < groups.size(); }) &&
         "no such group");
  return Partitioner(graph, groups, std::move(groupOf), minOps).run();
}

} // namespace htp
