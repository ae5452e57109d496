// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ParameterEvidence.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Hierarchy/Fingerprint.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace htp {

StringRef describe(ParameterMatch match) {
  switch (match) {
  case ParameterMatch::Name:
    return "by name";
  case ParameterMatch::Content:
    return "by content";
  case ParameterMatch::Values:
    return "by content in another order";
  }
  llvm_unreachable("all matches are described");
}

ParameterValues::ParameterValues(mlir::ModuleOp module, const ModuleTree &tree,
                                 const Trace *trace)
    : tree(tree) {
  indexParameters();
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
  auto it = values.find(value);
  return it == values.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// What the tree and the trace know
//===----------------------------------------------------------------------===//

static int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

void ParameterValues::indexParameters() {
  for (ModuleId id : tree.ids()) {
    if (tree[id].canonical != id)
      continue;
    for (const Parameter &parameter : tree[id].parameters) {
      count += !parameter.constant;
      std::string path = joinPath(tree[id].path, parameter.name);
      if (parameter.hash)
        byContent[parameter.hash].push_back(path);
      if (parameter.valuesHash)
        byValues[parameter.valuesHash].push_back(path);
      if (parameter.hash || parameter.valuesHash)
        sizes.insert(elementCount(parameter.shape));
    }
  }
}

void ParameterValues::indexReaders(const Trace &trace) {
  forEachOp(trace.ops, [&](const TraceOp &op) {
    forEachArgument(op.inputs, [&](const TraceArgument &argument) {
      if (argument.kind != TraceArgument::Kind::Parameter)
        return;
      // The tree in use may be another than the trace's own.
      if (auto id = tree.find(trace.tree[op.module].path))
        readers[identity(argument.parameter)].insert(*id);
    });
  });
}

std::string ParameterValues::identity(StringRef path) const {
  auto found = tree.findParameter(path);
  if (!found)
    return path.str();
  if (!found->parameter->tied.empty())
    return found->parameter->tied;
  ModuleId canonical = tree[found->module].canonical;
  return joinPath(tree[canonical].path, found->parameter->name);
}

/// All parameters with the contents of the one at `path`; none where they are
/// not known.
ArrayRef<std::string> ParameterValues::equalParameters(StringRef path) const {
  auto found = tree.findParameter(path);
  if (!found || !found->parameter->hash)
    return {};
  auto it = byContent.find(found->parameter->hash);
  return it == byContent.end() ? ArrayRef<std::string>() : it->second;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Whether `value` has as many elements as `parameter`, as far as is known.
static bool sizesFit(Value value, const Parameter &parameter) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || parameter.dtype.empty())
    return true;
  return type.getNumElements() == elementCount(parameter.shape);
}

void ParameterValues::addInitializer(Value value, Attribute contents) {
  ParameterValue result;
  StringRef name = getValueName(value);
  auto named = name.empty() ? std::nullopt : tree.findParameter(name);
  bool fits = named && sizesFit(value, *named->parameter);
  misfitCount += named && !fits && contents;
  if (fits)
    result.path = name.str();
  else if (!contents || !matchContents(value, contents, result))
    return;
  seen.insert(identity(result.path));
  values.insert({value, std::move(result)});
}

/// Hashing reads every byte, so it is done only for what a parameter could be.
bool ParameterValues::matchContents(Value value, Attribute contents,
                                    ParameterValue &result) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !sizes.contains(type.getNumElements()))
    return false;
  SmallVector<char> storage;
  std::optional<ArrayRef<char>> bytes = getTensorBytes(contents, storage);
  if (!bytes)
    return false;
  auto match = [&](const PathsByHash &index, uint64_t hash) {
    auto it = index.find(hash);
    if (it == index.end())
      return false;
    for (const std::string &path : it->second)
      if (sizesFit(value, *tree.findParameter(path)->parameter)) {
        result.path = path;
        return true;
      }
    return false;
  };
  if (match(byContent, hashBytes(*bytes))) {
    result.match = ParameterMatch::Content;
    return true;
  }
  auto element = elementTypeFromName(dtypeOf(type.getElementType()));
  if (element && match(byValues, hashValues(*bytes, *element))) {
    result.match = ParameterMatch::Values;
    return true;
  }
  return false;
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
    if (!name.empty() && tree.findParameter(name)) {
      copy.path = name.str();
      copy.match = ParameterMatch::Name;
      seen.insert(identity(copy.path));
    }
    values.insert({result, std::move(copy)});
  });
}

/// The modules that read any of these parameters.
ArrayRef<ModuleId> ParameterValues::readersOf(ArrayRef<std::string> paths) {
  SetVector<ModuleId> modules;
  for (const std::string &path : paths) {
    auto it = readers.find(identity(path));
    if (it != readers.end())
      modules.insert(it->second.begin(), it->second.end());
    else if (auto owner = tree.findParameter(path))
      modules.insert(owner->module);
  }
  return lists.emplace_back(modules.begin(), modules.end());
}

void ParameterValues::addReaders() {
  llvm::StringSet<> named;
  for (const auto &[value, parameter] : values)
    if (parameter.match == ParameterMatch::Name)
      named.insert(parameter.path);
  struct Equal {
    bool allNamed;
    ArrayRef<ModuleId> readers;
  };
  llvm::DenseMap<const std::string *, Equal> groups;
  for (auto &[value, parameter] : values) {
    ArrayRef<std::string> equal = equalParameters(parameter.path);
    if (equal.size() > 1) {
      auto [it, isNew] = groups.try_emplace(equal.data());
      if (isNew)
        it->second = {
            llvm::all_of(equal,
                         [&](StringRef path) { return named.contains(path); }),
            readersOf(equal)};
      // Equal parameters may have become one value. Names tell them apart only
      // where the graph still has every one of them.
      if (parameter.match != ParameterMatch::Name || !it->second.allNamed) {
        parameter.modules = it->second.readers;
        continue;
      }
    }
    parameter.modules = readersOf(parameter.path);
  }
}

} // namespace htp
