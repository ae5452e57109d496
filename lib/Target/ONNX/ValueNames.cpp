// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns value names by scope, and finds fresh ones.

#include "ValueNames.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include <cassert>

using namespace mlir;
using namespace htp;

StringRef htp::getRecordedName(OpResult result) {
  auto names =
      result.getOwner()->getAttrOfType<ArrayAttr>(htp::onnx::kOutputNames);
  if (!names || names.size() != result.getOwner()->getNumResults())
    return "";
  auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]);
  return name ? name.getValue() : "";
}

void ValueNames::pushScope(Block *block) {
  scopes.emplace_back();
  scopes.back().block = block;
}

void ValueNames::reserve(StringRef name, Value value) {
  assert(!scopes.empty() && "values are named in a scope");
  scopes.back().reserved.try_emplace(name, value);
}

/// Whether `value` can have this name without hiding another value from its
/// users.
bool ValueNames::isFree(StringRef name, Value value) const {
  assert(!scopes.empty() && "values are named in a scope");
  const Scope &scope = scopes.back();
  if (scope.values.contains(name))
    return false;
  if (Value owner = scope.reserved.lookup(name); owner && owner != value)
    return false;
  for (const Scope &outer : llvm::drop_begin(llvm::reverse(scopes))) {
    Value hidden = outer.values.lookup(name);
    if (hidden && llvm::any_of(hidden.getUsers(), [&](Operation *user) {
          return scope.block->getParent()->isAncestor(user->getParentRegion());
        }))
      return false;
  }
  return true;
}

void ValueNames::assign(Value value, StringRef wanted, StringRef hint) {
  std::string name = wanted.str();
  if (name.empty() || !isFree(name, value))
    name = fresh(name.empty() ? hint : wanted);
  StringRef owned = used.insert(name).first->first();
  names[value] = owned;
  scopes.back().values[owned] = value;
}

StringRef ValueNames::get(Value value) const { return names.lookup(value); }

Value ValueNames::find(StringRef name) const {
  assert(!scopes.empty() && "values are named in a scope");
  return scopes.back().values.lookup(name);
}

std::string ValueNames::fresh(StringRef hint) {
  if (!collected)
    collectUsed();
  // Continue counting where the last search for this hint stopped.
  for (unsigned &next = nextNumber[hint];;) {
    std::string name = (hint + "_" + Twine(next++)).str();
    if (used.insert(name).second)
      return name;
  }
}

/// Collects every string in any attribute. Avoiding a few more names than
/// necessary does no harm.
void ValueNames::collectUsed() {
  collected = true;
  AttrTypeWalker walker;
  walker.addWalk([&](StringAttr string) { used.insert(string.getValue()); });
  root->walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrDictionary())
      if (!isa<ElementsAttr>(attr.getValue()))
        walker.walk(attr.getValue());
  });
}
