// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores the module tree and parameters in a form that survives tools without
// HTP's dialect (HTP/Dialect/HTP/IR/PlainNotes.h).

#include "HTP/Target/TagMetadata.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/PlainNotes.h"
#include "HTP/Hierarchy/TreeJSON.h"
#include "HTP/Weights/Fingerprint.h"

using namespace mlir;

namespace htp {

/// Maps paths of parameters to the constants that hold them.
static llvm::StringMap<Operation *> findParameters(mlir::ModuleOp module) {
  llvm::StringMap<Operation *> found;
  module->walk([&](Operation *op) {
    if (auto path = op->getAttrOfType<StringAttr>(kParameterAttr);
        path && isInitializer(op))
      found.try_emplace(path, op);
  });
  return found;
}

/// Computes missing fingerprints from the tensor in the model. The fingerprint
/// of the bytes is only valid if the tensor has the parameter's shape.
static void addFingerprints(Parameter &parameter, Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<char> storage;
  auto bytes = type ? getTensorBytes(op->getAttr("value"), storage)
                    : std::optional<ArrayRef<char>>();
  if (!bytes)
    return;
  auto dtype = dtypeOf(type.getElementType());
  if (!parameter.hash && type.getShape() == ArrayRef(parameter.shape) &&
      parameter.dtype == dtype)
    parameter.hash = hashBytes(*bytes);
  if (auto element = elementTypeFromName(dtype);
      element && !parameter.valuesHash)
    parameter.valuesHash = hashValues(*bytes, *element);
}

/// Adds fingerprints to the tree. Other tools merge equal constants and lose
/// their locations; fingerprints then identify them.
static ModuleTree withFingerprints(const ModuleTree &tree,
                                   mlir::ModuleOp module) {
  llvm::StringMap<Operation *> tensors = findParameters(module);
  std::vector<Module> modules;
  for (ModuleId id : tree.ids())
    if (tree[id].canonical == id)
      modules.push_back(tree[id]);
  for (Module &each : modules)
    for (Parameter &parameter : each.parameters)
      if (Operation *op = tensors.lookup(joinPath(each.path, parameter.name));
          op && op->getNumResults() == 1)
        addFingerprints(parameter, op);
  ModuleTree made = llvm::cantFail(ModuleTree::create(std::move(modules)));
  made.setProducer(tree.getProducer());
  return made;
}

void writePlainTags(mlir::ModuleOp module) {
  if (!findHierarchy(module))
    return;
  ModuleTree tree = withFingerprints(fromIR(module), module);
  module->setAttr(kTreeTextAttr,
                  StringAttr::get(module.getContext(), treeToJSON(tree)));
  module->walk([&](Operation *op) {
    if (auto path = op->getAttrOfType<StringAttr>(kParameterAttr);
        path && isInitializer(op))
      op->setLoc(attachParameter(op->getLoc(), path));
  });
}

} // namespace htp
