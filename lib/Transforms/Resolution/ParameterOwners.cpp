// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the owner of the parameters that a node reads.

#include "ParameterOwners.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace htp;

ParameterOwners::ParameterOwners(const ModuleTree &tree) : tree(tree) {
  for (const htp::Module &module : tree.all())
    for (const Parameter &parameter : module.parameters) {
      if (!parameter.tied.empty()) {
        shared.insert(parameter.tied);
        shared.insert(joinPath(module.path, parameter.name));
      }
      if (parameter.valuesHash)
        ++equal[parameter.valuesHash];
    }
}

/// The parameter's path, as --htp-attach-hierarchy found it.
static StringAttr parameterPath(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getAttrOfType<StringAttr>(kParameterAttr);
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock()
             ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     kParameterAttr)
             : StringAttr();
}

std::optional<ModuleId> ParameterOwners::ownerOf(Value value) const {
  constexpr unsigned kMostCopies = 16;
  for (unsigned i = 0; i < kMostCopies; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op || isInitializer(op) || !isCopy(op) || op->getNumOperands() == 0)
      break;
    value = op->getOperand(0);
  }
  StringAttr path = parameterPath(value);
  auto found = path ? tree.findParameter(path) : std::nullopt;
  if (!found || shared.contains(path))
    return std::nullopt;
  // A value without the parameter's name was recognised by its contents. It may
  // be any parameter with the same contents.
  uint64_t hash = found->parameter->valuesHash;
  if (getValueName(value) != path && (!hash || equal.lookup(hash) != 1))
    return std::nullopt;
  return tree[found->module].canonical;
}

std::optional<ModuleId> ParameterOwners::of(Operation *op) const {
  std::optional<ModuleId> owner;
  for (Value operand : op->getOperands()) {
    std::optional<ModuleId> own = ownerOf(operand);
    if (own && owner && *own != *owner)
      return std::nullopt;
    if (own)
      owner = own;
  }
  return owner;
}
