// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace htp {

static constexpr StringLiteral kScope = "htp.scope";
static constexpr StringLiteral kCall = "htp.call";

static constexpr StringLiteral kSources = "htp.sources";

/// What attachScope made, or nothing: the location with a scope of its own.
static DictionaryAttr ownMetadata(LocationAttr loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                        : DictionaryAttr();
  return metadata && metadata.getAs<StringAttr>(kScope) ? metadata
                                                        : DictionaryAttr();
}

static int64_t integerOr0(DictionaryAttr metadata, StringRef key) {
  auto value = metadata.getAs<IntegerAttr>(key);
  return value ? value.getInt() : 0;
}

/// How many of the locations in a scope's location are Python code.
static size_t sourceCount(FusedLoc loc, DictionaryAttr metadata) {
  int64_t count = integerOr0(metadata, kSources);
  return std::clamp<int64_t>(count, 0, loc.getLocations().size());
}

/// The scope that `loc` itself holds, not what lies inside it.
static std::optional<Scope> ownScope(LocationAttr loc) {
  DictionaryAttr metadata = ownMetadata(loc);
  if (!metadata)
    return std::nullopt;
  return Scope{metadata.getAs<StringAttr>(kScope).getValue(),
               integerOr0(metadata, kCall)};
}

SmallVector<Location, 1> findSources(Location loc) {
  DictionaryAttr metadata = ownMetadata(loc);
  if (!metadata)
    return {};
  auto fused = cast<FusedLoc>(loc);
  return SmallVector<Location, 1>(
      fused.getLocations().take_back(sourceCount(fused, metadata)));
}

Location attachScope(Location loc, Scope scope, ArrayRef<Location> sources) {
  MLIRContext *context = loc->getContext();
  Builder builder(context);
  SmallVector<Location, 1> kept = findSources(loc);
  if (sources.empty())
    sources = kept;
  NamedAttrList metadata;
  if (scope.call)
    metadata.set(kCall, builder.getI64IntegerAttr(scope.call));
  metadata.set(kScope, builder.getStringAttr(scope.path));
  if (!sources.empty())
    metadata.set(kSources, builder.getI64IntegerAttr(sources.size()));
  SmallVector<Location> parts = {stripScopes(loc)};
  llvm::append_range(parts, sources);
  return FusedLoc::get(context, parts, metadata.getDictionary(context));
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
    DictionaryAttr metadata = ownMetadata(inner);
    if (!metadata)
      return std::nullopt;
    auto fused = cast<FusedLoc>(inner);
    // No original location is left where it was unknown: FusedLoc drops those.
    return Attribute(FusedLoc::get(
        inner.getContext(),
        fused.getLocations().drop_back(sourceCount(fused, metadata))));
  });
  return cast<LocationAttr>(replacer.replace(LocationAttr(loc)));
}

} // namespace htp
