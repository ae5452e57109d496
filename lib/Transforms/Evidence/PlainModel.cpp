// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the notes of PlainNotes.h, and marks initializers again.

#include "PlainModel.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/PlainNotes.h"
#include "HTP/Hierarchy/TreeJSON.h"

using namespace mlir;

namespace htp {

std::optional<ModuleTree> treeFromText(mlir::ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(kTreeTextAttr);
  if (!text)
    return std::nullopt;
  llvm::Expected<ModuleTree> tree = treeFromJSON(text);
  if (tree)
    return std::move(*tree);
  module.emitWarning("attribute '")
      << kTreeTextAttr
      << "' holds no module tree: " << llvm::toString(tree.takeError());
  return std::nullopt;
}

/// Whether `op` is an ONNX tensor in the only form that other tools keep.
static bool isTensor(Operation *op) {
  return op->getName().getStringRef() == "onnx.Constant" && isConstant(op) &&
         op->getNumResults() == 1 &&
         isa_and_nonnull<ElementsAttr>(op->getAttr("value"));
}

/// Whether HTP's importer made this model. It records the opsets of the model,
/// marks initializers, and notes the names of every node's values.
static bool isFromImporter(mlir::ModuleOp module) {
  if (module->hasAttr("onnx.opset_import"))
    return true;
  return module
      ->walk([](Operation *op) {
        return isInitializer(op) || op->hasAttr(kOutputNamesAttr)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool markInitializers(mlir::ModuleOp module) {
  if (isFromImporter(module))
    return false;
  Builder builder(module.getContext());
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function->hasAttr(kModuleAttr))
      function->walk([&](Operation *op) {
        if (isTensor(op))
          op->setDiscardableAttr(kInitializerAttr, builder.getUnitAttr());
      });
  return true;
}

void takePlainNotes(mlir::ModuleOp module, bool keep) {
  module->removeAttr(kTreeTextAttr);
  module->walk([&](Operation *op) {
    StringAttr parameter = findParameterNote(op->getLoc());
    if (!parameter)
      return;
    op->setLoc(stripParameterNote(op->getLoc()));
    if (keep && isInitializer(op))
      op->setDiscardableAttr(kParameterAttr, parameter);
  });
}

} // namespace htp
