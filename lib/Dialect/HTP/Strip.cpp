// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removes HTP's attributes, location scopes and module tree.

#include "HTP/Dialect/HTP/IR/Strip.h"

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/PlainNotes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace htp;

static bool isOurs(NamedAttribute attribute) {
  return attribute.getName().strref().starts_with("htp.");
}

static void stripArguments(FunctionOpInterface function) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(i)))
      if (isOurs(attribute))
        function.removeArgAttr(i, attribute.getName());
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    for (NamedAttribute attribute : llvm::to_vector(function.getResultAttrs(i)))
      if (isOurs(attribute))
        function.removeResultAttr(i, attribute.getName());
}

void htp::strip(Operation *root) {
  root->walk([](Operation *op) {
    if (isa<HierarchyOp>(op)) {
      op->erase();
      return WalkResult::skip();
    }
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOurs(attribute))
        op->removeDiscardableAttr(attribute.getName());
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      stripArguments(function);
    op->setLoc(stripScopes(stripParameterNote(op->getLoc())));
    return WalkResult::advance();
  });
}
