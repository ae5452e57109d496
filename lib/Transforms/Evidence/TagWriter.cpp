// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes and writes tags through the caches of TagWriter.

#include "TagWriter.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

using namespace mlir;

namespace htp {

TagAttr TagWriter::make(ModuleId module, StringAttr path, int64_t call,
                        Evidence evidence, double confidence,
                        StringRef reason) {
  assert(module < lastOf.size() && "no such module in the tree of these tags");
  assert(path && "a tag has a path");
  TagAttr &tag = lastOf[module];
  if (!tag || tag.getCall() != call || tag.getEvidence() != evidence ||
      tag.getConfidenceValue() != confidence || tag.getReason() != reason)
    tag = TagAttr::get(path, call, evidence, confidence, reason);
  return tag;
}

/// Sets the tag. If the tag is the only attribute, the dictionary of another op
/// with the same tag is reused.
static void setTagAttr(Operation *op, TagAttr tag, DictionaryAttr attributes) {
  auto onlyTag = [](DictionaryAttr attributes) {
    return attributes.size() == 1 && attributes.contains(kTagAttr);
  };
  DictionaryAttr own = op->getRawDictionaryAttrs();
  if (onlyTag(attributes) && (own.empty() || onlyTag(own)))
    op->setDiscardableAttrs(attributes);
  else
    op->setDiscardableAttr(kTagAttr, tag);
}

void TagWriter::write(Operation *op, TagAttr tag, ArrayRef<Location> sources) {
  auto *known = llvm::find_if(
      written, [&](const Written &other) { return other.tag == tag; });
  if (known != written.end() && sources.empty()) {
    setTagAttr(op, tag, known->attributes);
    op->setLoc(attachScopeOf(known->loc, op->getLoc()));
  } else {
    setTag(op, tag, sources);
    if (known == written.end())
      --known;
    *known = {tag, op->getDiscardableAttrDictionary(), op->getLoc()};
  }
  std::rotate(written.begin(), known, std::next(known));
}

} // namespace htp
