// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace htp {

static constexpr StringLiteral kScope = "htp.scope";
static constexpr StringLiteral kCall = "htp.call";

/// The scope that `loc` itself holds, not what lies inside it.
static std::optional<Scope> ownScope(LocationAttr loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                        : DictionaryAttr();
  auto path = metadata ? metadata.getAs<StringAttr>(kScope) : StringAttr();
  if (!path)
    return std::nullopt;
  auto call = metadata.getAs<IntegerAttr>(kCall);
  return Scope{path.getValue(), call ? call.getInt() : 0};
}

Location attachScope(Location loc, Scope scope) {
  MLIRContext *context = loc->getContext();
  Builder builder(context);
  NamedAttrList metadata;
  if (scope.call)
    metadata.set(kCall, builder.getI64IntegerAttr(scope.call));
  metadata.set(kScope, builder.getStringAttr(scope.path));
  return FusedLoc::get(context, {stripScopes(loc)},
                       metadata.getDictionary(context));
}

SmallVector<Scope, 1> findScopes(Location loc) {
  SmallVector<Scope, 1> scopes;
  loc->walk([&](Location inner) {
    std::optional<Scope> scope = ownScope(inner);
    if (scope && !is_contained(scopes, *scope))
      scopes.push_back(*scope);
    return WalkResult::advance();
  });
  return scopes;
}

std::optional<Scope> findScope(Location loc) {
  SmallVector<Scope, 1> scopes = findScopes(loc);
  return scopes.size() == 1 ? std::optional(scopes.front()) : std::nullopt;
}

Location stripScopes(Location loc) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LocationAttr inner) -> std::optional<Attribute> {
    if (!ownScope(inner))
      return std::nullopt;
    ArrayRef<Location> locations = cast<FusedLoc>(inner).getLocations();
    return locations.size() == 1
               ? Attribute(locations.front())
               : Attribute(FusedLoc::get(inner.getContext(), locations));
  });
  return cast<LocationAttr>(replacer.replace(LocationAttr(loc)));
}

} // namespace htp
