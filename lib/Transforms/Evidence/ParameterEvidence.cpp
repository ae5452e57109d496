// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches values with parameters by name, contents and sketches, and finds the
// modules that read each.

#include "ParameterEvidence.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Weights/Fingerprint.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace htp {

/// Whether `value` has as many elements as `parameter`, as far as is known.
static bool sizesFit(Value value, const Parameter &parameter) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || parameter.dtype.empty())
    return true;
  return type.getNumElements() == elementCount(parameter.shape);
}

ParameterValues::ParameterValues(mlir::ModuleOp module, const ModuleTree &tree,
                                 const Trace *trace, SketchMatches *sketches)
    : tree(tree), index(tree), sketches(sketches), seen(index.size()),
      readers(index.size()), direct(index.size()), behind(index.size()) {
  if (trace)
    indexReaders(*trace);
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments())
      addInitializer(argument, {});
  }
  module->walk([&](Operation *op) {
    if (isInitializer(op) && op->getNumResults() == 1)
      addInitializer(op->getResult(0), op->getAttr("value"));
  });
  addCopies(module);
  addReaders();
}

const ParameterValue *ParameterValues::find(Value value) const {
  // Most values are neither parameters nor copies. Their op tells that without
  // a lookup in a table, which is slow for a large model.
  if (Operation *op = value.getDefiningOp();
      op && op->getNumOperands() && !isCopy(op))
    return nullptr;
  auto it = values.find(value);
  return it == values.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// What the tree and the trace know
//===----------------------------------------------------------------------===//

/// A parameter with more readers than this tells nothing about any of them.
static constexpr size_t kManyReaders = 64;

/// Whether an op of this kind may leave no node and pass on what it reads.
static bool passesOn(const EmissionRule &rule) {
  return rule.cheap || rule.silent;
}

void ParameterValues::indexReaders(const Trace &trace) {
  // The tree in use may differ from the trace's own.
  bool sameTree = &tree == &trace.tree;
  llvm::StringMap<unsigned> kinds;
  auto kindOf = [&](StringRef kind) {
    auto [found, isNew] = kinds.try_emplace(kind, rules.size());
    const EmissionTable &table = EmissionTable::get();
    if (isNew)
      rules.push_back(table.rule(table.canonical(kind)));
    return found->second;
  };
  auto add = [](auto &known, auto entry) {
    if (!llvm::is_contained(known, entry))
      known.push_back(entry);
  };
  auto addFew = [&](auto &known, auto entry) {
    if (known.size() < kManyReaders)
      add(known, entry);
  };
  /// The values that are a parameter which an op has passed on.
  llvm::DenseMap<TraceValueId, ParameterId> passed;
  forEachOp(trace.ops, [&](const TraceOp &op) {
    auto reader = sameTree ? op.module : tree.find(trace.tree[op.module].path);
    if (!reader || onlyHandsOn(op))
      return;
    Reader entry{*reader, kindOf(op.kind)};
    std::optional<ParameterId> handed;
    forEachArgument(op.inputs, [&](const TraceArgument &argument) {
      if (argument.kind == TraceArgument::Kind::Parameter) {
        auto parameter = index.find(argument.parameter);
        if (!parameter)
          return;
        handed = index.identity(*parameter);
        add(readers[*handed], *reader);
        addFew(direct[*handed], entry);
      } else if (argument.kind == TraceArgument::Kind::Value) {
        auto found = passed.find(argument.value);
        if (found == passed.end())
          return;
        handed = found->second;
        addFew(behind[*handed], entry);
      }
    });
    if (handed && passesOn(rules[entry.kind]))
      for (const TraceValue &output : op.outputs)
        passed[output.value] = *handed;
  });
}

std::optional<ModuleId> ParameterValues::readerFor(const ParameterValue &value,
                                                   StringRef opType) const {
  // A value may be one of several equal parameters, or several modules may read
  // it. Then nothing is known.
  if (value.modules.size() != 1)
    return std::nullopt;
  auto mayLeave = [&](const Reader &reader) {
    Emits emits = rules[reader.kind].emits(opType); // a parameter is no size
    return emits == Emits::Main || emits == Emits::Part;
  };
  ParameterId parameter = index.identity(value.parameter);
  bool onlyPassed = !direct[parameter].empty() &&
                    llvm::all_of(direct[parameter], [&](const Reader &reader) {
                      return passesOn(rules[reader.kind]) && !mayLeave(reader);
                    });
  if (!onlyPassed)
    return value.modules.front();
  std::optional<ModuleId> only;
  if (behind[parameter].size() == kManyReaders)
    return only;
  for (const Reader &reader : behind[parameter])
    if (mayLeave(reader)) {
      if (only && *only != reader.module)
        return std::nullopt;
      only = reader.module;
    }
  return only;
}

bool ParameterValues::mayStandFor(Value value, ModuleId module) const {
  return llvm::any_of(tree[module].parameters, [&](const Parameter &own) {
    auto id = index.find(joinPath(tree[module].path, own.name));
    return id && !seen.test(index.identity(*id)) && sizesFit(value, own);
  });
}

std::string ParameterValues::identity(StringRef path) const {
  auto parameter = index.find(path);
  return parameter ? index.path(index.identity(*parameter)) : path.str();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void ParameterValues::addInitializer(Value value, Attribute contents) {
  ParameterValue result;
  StringRef name = getValueName(value);
  auto named = name.empty() ? std::nullopt : index.find(name);
  bool fits = named && sizesFit(value, index[*named]);
  misfitCount += named && !fits && contents;
  if (fits)
    result.parameter = *named;
  else if (!contents || (!matchContents(value, contents, result) &&
                         !matchSketch(value, result)))
    return;
  seen.set(index.identity(result.parameter));
  values.insert({value, std::move(result)});
}

/// Hashing reads every byte, so it is done only for tensors that have the size
/// of a parameter.
bool ParameterValues::matchContents(Value value, Attribute contents,
                                    ParameterValue &result) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !index.hasSize(type.getNumElements()))
    return false;
  // A single integer (an axis, a zero point) is equal to one that a module
  // counts by chance.
  if (type.getNumElements() < 2 && type.getElementType().isIntOrIndex())
    return false;
  SmallVector<char> storage;
  std::optional<ArrayRef<char>> bytes = getTensorBytes(contents, storage);
  if (!bytes)
    return false;
  auto match = [&](ArrayRef<ParameterId> candidates) {
    const auto *fits = llvm::find_if(candidates, [&](ParameterId parameter) {
      return sizesFit(value, index[parameter]);
    });
    if (fits == candidates.end())
      return false;
    result.parameter = *fits;
    return true;
  };
  if (match(index.withContent(hashBytes(*bytes)))) {
    result.match = ParameterMatch::Content;
    return true;
  }
  auto element = elementTypeFromName(dtypeOf(type.getElementType()));
  if (element && match(index.withValues(hashValues(*bytes, *element)))) {
    result.match = ParameterMatch::Values;
    return true;
  }
  return false;
}

/// If the sketch matches several equal parameters, the value may be any of
/// them. If it finds several parameters packed in the value, it is all of them.
bool ParameterValues::matchSketch(Value value, ParameterValue &result) {
  if (!sketches)
    return false;
  ArrayRef<SketchMatch> found = sketches->find(value);
  // Some rows that an exporter cut out of a parameter are the result of a step:
  // nodes that read them read that result, not the parameter.
  if (llvm::any_of(found, [](const SketchMatch &match) { return match.isCut; }))
    return false;
  if (found.empty())
    return false;
  result.match = ParameterMatch::Sketch;
  result.parameter = found.front().parameters.front();
  SmallVector<ParameterId, 4> all;
  for (const SketchMatch &match : found) {
    all.append(match.parameters.begin(), match.parameters.end());
    seen.set(index.identity(match.parameters.front()));
  }
  result.ambiguous = found.size() == 1 && all.size() > 1;
  if (all.size() > 1)
    several[value] = std::move(all);
  return true;
}

void ParameterValues::addCopies(mlir::ModuleOp module) {
  module->walk([&](Operation *op) {
    if (isInitializer(op) || !isCopy(op) || op->getNumOperands() == 0 ||
        op->getNumResults() == 0)
      return;
    Value result = op->getResult(0);
    auto source = values.find(op->getOperand(0));
    if (source == values.end())
      return;
    ParameterValue copy = source->second;
    StringRef name = getValueName(result);
    if (auto named = name.empty() ? std::nullopt : index.find(name)) {
      copy.parameter = *named;
      copy.match = ParameterMatch::Name;
      seen.set(index.identity(copy.parameter));
    } else if (auto found = several.find(op->getOperand(0));
               found != several.end())
      several[result] = SmallVector<ParameterId, 4>(found->second);
    values.insert({result, std::move(copy)});
  });
}

/// The modules that read this parameter, or its owner if the trace has none.
ArrayRef<ModuleId> ParameterValues::readersOf(ParameterId parameter) const {
  ArrayRef<ModuleId> known = readers[index.identity(parameter)];
  return known.empty() ? ArrayRef(index.owner(parameter)) : known;
}

/// The modules that read any of these parameters.
ArrayRef<ModuleId>
ParameterValues::readersOfAny(ArrayRef<ParameterId> several) {
  llvm::SetVector<ModuleId> modules;
  for (ParameterId parameter : several)
    modules.insert_range(readersOf(parameter));
  return lists.emplace_back(modules.takeVector());
}

void ParameterValues::addReaders() {
  llvm::BitVector named(index.size());
  for (const auto &[value, parameter] : values)
    if (parameter.match == ParameterMatch::Name)
      named.set(parameter.parameter);
  struct Equal {
    bool allNamed;
    ArrayRef<ModuleId> readers;
  };
  llvm::DenseMap<const ParameterId *, Equal> groups;
  for (auto &[value, parameter] : values) {
    if (auto found = several.find(value); found != several.end()) {
      parameter.modules = readersOfAny(found->second);
      continue;
    }
    uint64_t hash = index[parameter.parameter].hash;
    ArrayRef<ParameterId> equal =
        hash ? index.withContent(hash) : ArrayRef<ParameterId>();
    if (equal.size() > 1) {
      auto [it, isNew] = groups.try_emplace(equal.data());
      if (isNew)
        it->second = {
            llvm::all_of(equal, [&](ParameterId id) { return named[id]; }),
            readersOfAny(equal)};
      // Equal parameters may have become one value. Their names tell them apart
      // only if the graph still has all of them.
      if (parameter.match != ParameterMatch::Name || !it->second.allNamed) {
        parameter.modules = it->second.readers;
        parameter.ambiguous = true;
        continue;
      }
    }
    parameter.modules = readersOf(parameter.parameter);
  }
}

} // namespace htp
