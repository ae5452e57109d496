// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Metadata.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

using namespace mlir;

namespace htp {

Metadata::Metadata(Attribute attr) {
  auto entries = dyn_cast_or_null<ArrayAttr>(attr);
  for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>())
    // The value is not looked at: most are other tools' and far apart in
    // memory.
    if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
      if (isa<StringAttr>(pair[0]))
        list.push_back(pair);
}

StringAttr Metadata::find(StringRef key) const {
  for (Attribute entry : list)
    if (keyOf(entry) == key)
      return valueOf(entry);
  return {};
}

void Metadata::add(MLIRContext *context, StringRef key, StringRef value) {
  list.push_back(ArrayAttr::get(context, {StringAttr::get(context, key),
                                          StringAttr::get(context, value)}));
}

void Metadata::removeOurs() {
  SmallVector<StringRef, 4> added;
  if (StringAttr names = find(kAddedKey))
    names.getValue().split(added, ',');
  llvm::erase_if(list, [&](Attribute entry) {
    StringRef key = keyOf(entry);
    return key.starts_with("htp.") || llvm::is_contained(added, key);
  });
}

void Metadata::store(Operation *op, StringAttr name) const {
  if (empty())
    op->removeAttr(name);
  else
    op->setAttr(name, ArrayAttr::get(op->getContext(), list));
}

void Metadata::store(FunctionOpInterface function, unsigned argument) const {
  if (empty())
    function.removeArgAttr(argument, kMetadataAttr);
  else
    function.setArgAttr(argument, kMetadataAttr,
                        ArrayAttr::get(function->getContext(), list));
}

void forEachArgument(
    Operation *module,
    llvm::function_ref<void(FunctionOpInterface, unsigned)> visit) {
  // No function lies in another: what is in one is not looked at.
  module->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      visit(function, i);
    return WalkResult::skip();
  });
}

} // namespace htp
