// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the owner of the parameters that a node reads.

#include "ParameterOwners.h"

#include "../Evidence/DirectEvidence.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace htp;

ParameterOwners::ParameterOwners(mlir::ModuleOp root, const ModuleTree &tree)
    : tree(tree) {
  for (ModuleId id : tree.ids())
    knowsCalls |= id != ModuleTree::root() && tree[id].calls > 0;
  for (const htp::Module &module : tree.all())
    for (const Parameter &parameter : module.parameters) {
      if (!parameter.tied.empty()) {
        shared.insert(parameter.tied);
        shared.insert(joinPath(module.path, parameter.name));
      }
      if (parameter.valuesHash)
        ++equal[parameter.valuesHash];
    }
  root->walk([&](Operation *op) {
    if (auto path = op->getAttrOfType<StringAttr>(kParameterAttr))
      present.insert(path);
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
        if (auto path =
                function.getArgAttrOfType<StringAttr>(i, kParameterAttr))
          present.insert(path);
  });
}

/// What --htp-attach-hierarchy found out about a parameter, under this name.
template <typename AttrT>
static AttrT parameterAttr(Value value, StringRef name) {
  if (Operation *op = value.getDefiningOp())
    return op->getAttrOfType<AttrT>(name);
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock()
             ? function.getArgAttrOfType<AttrT>(argument.getArgNumber(), name)
             : AttrT();
}

std::optional<ParameterOwners::Read> ParameterOwners::read(Value value) const {
  constexpr unsigned kMostCopies = 16;
  for (unsigned i = 0; i < kMostCopies; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op || isInitializer(op) || !isCopy(op) || op->getNumOperands() == 0)
      break;
    value = op->getOperand(0);
  }
  auto path = parameterAttr<StringAttr>(value, kParameterAttr);
  auto found = path ? tree.findParameter(path) : std::nullopt;
  if (!found || shared.contains(path))
    return std::nullopt;
  // A value without the parameter's name was recognised by its contents. It may
  // be any parameter with the same contents.
  uint64_t hash = found->parameter->valuesHash;
  if (getValueName(value) != path && (!hash || equal.lookup(hash) != 1))
    return std::nullopt;
  Read result{tree[found->module].canonical,
              found->parameter,
              getValueName(value) == path,
              {}};
  if (auto users = parameterAttr<ArrayAttr>(value, kUsersAttr))
    for (Attribute user : users) {
      // The dialect verifies attributes of operations, but not of arguments.
      auto name = dyn_cast<StringAttr>(user);
      if (auto reader = name ? tree.find(name) : std::nullopt)
        result.readers.push_back(tree[*reader].canonical);
    }
  return result;
}

bool ParameterOwners::standsFor(const Read &read, ModuleId module) const {
  const Parameter &stored = *read.parameter;
  return llvm::any_of(tree[module].parameters, [&](const Parameter &own) {
    return own.shape == stored.shape && own.dtype == stored.dtype &&
           own.valuesHash == stored.valuesHash &&
           !present.contains(joinPath(tree[module].path, own.name));
  });
}

bool ParameterOwners::isReadBy(const Read &read, ModuleId module) const {
  ArrayRef<ModuleId> readers = read.readers;
  // Parameters that are packed into one value: their common ancestor does the
  // work of all their owners.
  if (readers.size() > 1 && tree.lowestCommonAncestor(readers) == module)
    return true;
  if (!llvm::is_contained(readers, module))
    return false;
  if (!tree.isAncestorOrSelf(module, read.owner))
    return true;
  // What runs in a hook of the owner, a trace ascribes to a module around it;
  // and what it knows nothing about, to the root.
  return tree[read.owner].parent == module && tree[read.owner].calls == 0 &&
         (module != ModuleTree::root() || knowsCalls);
}

std::optional<ModuleId> ParameterOwners::contradicting(Operation *op,
                                                       ModuleId module) const {
  if (mayBeFused(op))
    return std::nullopt;
  ModuleId own = tree[module].canonical;
  std::optional<ModuleId> owner;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<Read> found = read(operand);
    // The bias of a convolution that absorbed a norm may equal the norm's.
    if (!found || (isConvolution(op) && index >= 2 && !found->byName))
      continue;
    bool isOthers = !owner || *owner == found->owner;
    if (found->owner == own || standsFor(*found, own) ||
        isReadBy(*found, own) || !isOthers)
      return std::nullopt;
    owner = found->owner;
  }
  return owner;
}
