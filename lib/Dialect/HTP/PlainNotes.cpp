// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes of parameters in locations: attaching, finding and removing them.

#include "HTP/Dialect/HTP/IR/PlainNotes.h"

#include "HTP/Dialect/HTP/IR/HTP.h"

using namespace mlir;

namespace htp {

Location attachParameter(Location loc, StringAttr path) {
  MLIRContext *context = loc.getContext();
  NamedAttribute note(StringAttr::get(context, kParameterAttr), path);
  return FusedLoc::get(context, {stripParameterNote(loc)},
                       DictionaryAttr::get(context, note));
}

StringAttr findParameterNote(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                        : DictionaryAttr();
  return metadata ? metadata.getAs<StringAttr>(kParameterAttr) : StringAttr();
}

Location stripParameterNote(Location loc) {
  if (!findParameterNote(loc))
    return loc;
  ArrayRef<Location> inner = cast<FusedLoc>(loc).getLocations();
  return inner.size() == 1 ? inner.front()
                           : FusedLoc::get(loc.getContext(), inner);
}

} // namespace htp
