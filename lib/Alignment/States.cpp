// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the program's steps into states of the model: which state feeds which,
// which states read a parameter, and what each kind can emit.

#include "Model.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace htp;
using namespace htp::alignment;

//===----------------------------------------------------------------------===//
// Emissions
//===----------------------------------------------------------------------===//

Index Emissions::kind(llvm::StringRef name) {
  std::string canonical = EmissionTable::get().canonical(name);
  auto [found, isNew] = kinds.try_emplace(canonical, rules.size());
  if (isNew)
    rules.push_back(EmissionTable::get().rule(canonical));
  return found->second;
}

Index Emissions::op(llvm::StringRef name) {
  auto [found, isNew] = ops.try_emplace(name, opNames.size());
  if (isNew)
    opNames.push_back(name.str());
  return found->second;
}

void Emissions::close() {
  numOps = opNames.size();
  matrix.assign(rules.size() * numOps, Emits::Nothing);
  shown.assign(rules.size(), false);
  for (auto [kind, rule] : llvm::enumerate(rules)) {
    Emits *row = matrix.data() + kind * numOps;
    for (Index op = 0; op < numOps; ++op) {
      row[op] = rule.emits(opNames[op]);
      shown[kind] = shown[kind] || row[op] == Emits::Main;
    }
    // The other ops count only in place of the main op, and the graph has the
    // main op. A Cast still counts: it does not replace the main op but
    // accompanies it.
    if (rule.instead && shown[kind])
      for (Index op = 0; op < numOps; ++op)
        if (row[op] == Emits::Part && opNames[op] != "Cast")
          row[op] = Emits::Nothing;
  }
  for (Index op = 0; op < numOps; ++op) {
    for (Index kind = 0; kind < numKinds(); ++kind)
      if ((*this)(kind, op) != Emits::Nothing)
        sources.push(kind);
    sources.close();
  }
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Frames::Frames(const Program &program, llvm::ArrayRef<ModulePlace> modules) {
  if (modules.empty())
    return;
  // Do not trust the number of calls in a trace: a wrong one would make the
  // tree huge. A call that made no step cannot be told from others, so a module
  // needs no more frames than there are steps.
  Index most = program.steps.size() + 1;
  counts.assign(modules.size(), 0);
  std::vector<Index> depths(modules.size(), 0), order;
  for (auto [index, place] : llvm::enumerate(modules)) {
    counts[index] = std::clamp(place.calls, place.parent < 0 ? 1 : 0, most);
    // The parents may form a cycle, which the depth limit ends.
    for (Index above = place.parent;
         above >= 0 && depths[index] < Index(modules.size());
         above = modules[above].parent)
      ++depths[index];
    order.push_back(index);
  }
  for (const Program::Step &step : program.steps)
    counts[step.module] = std::max(
        counts[step.module], std::min(std::max(step.call, 0), most - 1) + 1);
  llvm::sort(order, [&](Index a, Index b) {
    return std::pair(depths[a], a) < std::pair(depths[b], b);
  });
  firsts.assign(modules.size(), -1);
  for (Index module : order) {
    firsts[module] = list.size();
    bool circular = depths[module] == Index(modules.size());
    Index above = circular ? -1 : modules[module].parent;
    while (above >= 0 && counts[above] == 0)
      above = modules[above].parent;
    for (Index call = 0; call < counts[module]; ++call) {
      // Assume that each call of the parent calls this module equally often. A
      // frame without a parent goes into the first frame of all, so that any
      // two frames have one in common: a trace may count several calls of the
      // root.
      Index parent =
          above >= 0 ? of(above, int64_t(call) * counts[above] / counts[module])
                     : (list.empty() ? -1 : 0);
      list.push_back({module, parent, parent < 0 ? 0 : list[parent].depth + 1});
    }
  }
}

Index Frames::of(Index module, Index call) const {
  return firsts[module] + std::max(0, std::min(call, counts[module] - 1));
}

Index Frames::common(Index a, Index b) const {
  while (a != b) {
    Index &deeper = list[a].depth < list[b].depth ? b : a;
    deeper = list[deeper].parent;
  }
  return a;
}

bool Frames::inside(Index frame, Index ancestor) const {
  while (list[frame].depth > list[ancestor].depth)
    frame = list[frame].parent;
  return frame == ancestor;
}

Index Frames::childTowards(Index ancestor, Index frame) const {
  while (list[frame].parent != ancestor)
    frame = list[frame].parent;
  return frame;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static uint64_t hashShape(llvm::ArrayRef<int64_t> shape) {
  return llvm::hash_combine_range(shape.begin(), shape.end()) * 31 +
         shape.size();
}

Index States::shapeNumber(llvm::ArrayRef<int64_t> shape) {
  return shapes.try_emplace(hashShape(shape), shapes.size() + 1).first->second;
}

Index States::findShape(llvm::ArrayRef<int64_t> shape) const {
  auto found = shapes.find(hashShape(shape));
  return found == shapes.end() ? -1 : found->second;
}

/// Groups the items of (key, item) pairs by key. The pairs are sorted by item.
static Rows<Index> bucket(llvm::ArrayRef<std::pair<Index, Index>> pairs,
                          size_t keys) {
  Rows<Index> rows;
  rows.begins.assign(keys + 1, 0);
  for (auto [key, item] : pairs)
    ++rows.begins[key + 1];
  for (size_t key = 0; key < keys; ++key)
    rows.begins[key + 1] += rows.begins[key];
  rows.items.resize(pairs.size());
  std::vector<unsigned> at(rows.begins.begin(), rows.begins.end() - 1);
  for (auto [key, item] : pairs)
    rows.items[at[key]++] = item;
  return rows;
}

/// Adds a gap before a state in frame `next`, if the state before it is in
/// another frame.
void States::addGap(const Frames &frames, Index next) {
  if (!frames.known() || list.empty())
    return;
  Index last = list.back().frame;
  if (last == next)
    return;
  State gap;
  gap.frame = frames.common(last, next);
  gap.module = frames.module(gap.frame);
  gap.call = frames.call(gap.frame);
  gap.isGap = true;
  list.push_back(gap);
}

States::States(const Program &program, const Frames &frames,
               Emissions &emissions)
    : program(program) {
  for (size_t k = 0; k < program.inputs.size(); ++k) {
    list.push_back({});
    list.back().step = k;
    list.back().isInput = true;
    list.back().frame = frames.known() ? 0 : -1;
  }
  llvm::StringMap<Index> kinds; // finding a canonical name is slow
  for (auto [index, step] : llvm::enumerate(program.steps)) {
    State state;
    auto [found, isNew] = kinds.try_emplace(step.kind, 0);
    if (isNew)
      found->second = emissions.kind(step.kind);
    state.kind = found->second;
    state.step = index;
    state.module = step.module;
    state.call = step.call;
    state.unplaced = step.unplaced;
    for (Index value : step.outputs)
      if (!state.shape && program.values[value].hasShape)
        state.shape = shapeNumber(program.values[value].shape);
    if (frames.known())
      state.frame = frames.of(step.module, step.call);
    addGap(frames, state.frame);
    list.push_back(state);
  }
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    list.push_back({});
    list.back().step = k;
    list.back().isOutput = true;
    list.back().frame = frames.known() ? 0 : -1;
  }
  link();

  Column<std::pair<Index, Index>> reads, kindOf, moduleOf;
  Index numModules = 0;
  for (auto [t, state] : llvm::enumerate(list)) {
    numModules = std::max(numModules, state.module + 1);
    if (state.kind < 0)
      continue;
    kindOf.push_back({state.kind, t});
    moduleOf.push_back({state.module, t});
    for (Index parameter : program.steps[state.step].parameters)
      if (reads.empty() ||
          reads.back() != std::pair<Index, Index>(parameter, t))
        reads.push_back({parameter, t});
  }
  readers = bucket(reads, program.parameters.size());
  ofKind = bucket(kindOf, emissions.numKinds());
  ofModule = bucket(moduleOf, numModules);
}

/// Links each state to the states that feed it. Exporters merge steps that
/// compute the same value: a step that reads the second of them in the program
/// may read the node of the first in the graph. It gets an edge from the first
/// step as well.
void States::link() {
  struct Made {
    Index state = -1, first = -1, position = 0;
  };
  std::vector<Made> made(program.values.size());
  llvm::DenseMap<uint64_t, Index> firsts;
  Column<std::pair<Index, Index>> edges;
  llvm::SmallVector<Index> sources;

  for (Index t = 0; t < size(); ++t) {
    const State &state = list[t];
    sources.clear();
    Index first = t;
    llvm::ArrayRef<int32_t> outputs;
    if (state.isInput) {
      outputs = program.inputs[state.step];
    } else if (state.isOutput) {
      sources.push_back(program.outputs[state.step]);
    } else if (!state.isGap) {
      const Program::Step &step = program.steps[state.step];
      sources.append(step.inputs.begin(), step.inputs.end());
      outputs = step.outputs;
      uint64_t key =
          llvm::hash_combine(state.kind, step.constants,
                             llvm::hash_combine_range(step.parameters.begin(),
                                                      step.parameters.end()));
      for (Index value : step.inputs)
        key = llvm::hash_combine(key, made[value].first, made[value].position);
      if (!step.inputs.empty() || !step.parameters.empty())
        first = firsts.try_emplace(key, t).first->second;
      if (first != t)
        list[first].repeated = list[t].repeated = true;
    }
    llvm::SmallVector<Index> before;
    for (Index value : sources) {
      if (made[value].state < 0)
        continue;
      before.push_back(made[value].state);
      before.push_back(made[value].first);
    }
    llvm::sort(before);
    before.erase(llvm::unique(before), before.end());
    for (Index p : before) {
      prev.push(p);
      edges.push_back({p, t});
    }
    prev.close();
    for (auto [position, value] : llvm::enumerate(outputs))
      made[value] = {t, first, Index(position)};
  }
  next = bucket(edges, size());
}
