// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attaches module scopes to locations, finds them and removes them again.

#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cassert>

using namespace mlir;

namespace htp {

static constexpr StringLiteral kScope = "htp.scope";
static constexpr StringLiteral kCall = "htp.call";

static constexpr StringLiteral kSources = "htp.sources";

/// The metadata of a location made by attachScope; null for any other.
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

/// The number of Python source lines in a location made by attachScope.
static size_t sourceCount(FusedLoc loc, DictionaryAttr metadata) {
  int64_t count = integerOr0(metadata, kSources);
  return std::clamp<int64_t>(count, 0, loc.getLocations().size());
}

/// The location that the scope was attached to. FusedLoc drops unknown
/// locations, so there may be none left.
static Location withoutOwnScope(FusedLoc loc, DictionaryAttr metadata) {
  ArrayRef<Location> kept =
      loc.getLocations().drop_back(sourceCount(loc, metadata));
  return kept.size() == 1 ? kept.front()
                          : FusedLoc::get(loc.getContext(), kept);
}

/// The scope of `loc` itself, not of locations nested in it.
static std::optional<Scope> ownScope(LocationAttr loc) {
  DictionaryAttr metadata = ownMetadata(loc);
  if (!metadata)
    return std::nullopt;
  auto path = metadata.getAs<StringAttr>(kScope);
  return Scope{path, integerOr0(metadata, kCall), path};
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
  if (sources.empty() && ownScope(loc) == scope && findScope(loc) == scope)
    return loc;
  MLIRContext *context = loc->getContext();
  Builder builder(context);
  SmallVector<Location, 1> kept = findSources(loc);
  if (sources.empty())
    sources = kept;
  NamedAttrList metadata;
  if (scope.call)
    metadata.append(kCall, builder.getI64IntegerAttr(scope.call));
  metadata.append(kScope, scope.attribute ? scope.attribute
                                          : builder.getStringAttr(scope.path));
  if (!sources.empty())
    metadata.append(kSources, builder.getI64IntegerAttr(sources.size()));
  SmallVector<Location> parts = {stripScopes(loc)};
  llvm::append_range(parts, sources);
  return FusedLoc::get(context, parts, metadata.getDictionary(context));
}

/// Whether `loc` or a nested location may hold a scope. Nearly every location
/// is a plain name, for which this is far cheaper than a full walk.
static bool mayHoldScope(Location loc) {
  return llvm::TypeSwitch<LocationAttr, bool>(loc)
      .Case<UnknownLoc, FileLineColRange>([](auto) { return false; })
      .Case([](NameLoc name) { return mayHoldScope(name.getChildLoc()); })
      .Case([](CallSiteLoc site) {
        return mayHoldScope(site.getCallee()) || mayHoldScope(site.getCaller());
      })
      .Case([](FusedLoc fused) {
        return fused.getMetadata() ||
               llvm::any_of(fused.getLocations(), mayHoldScope);
      })
      .Default(true);
}

Location attachScopeOf(Location made, Location loc) {
  DictionaryAttr metadata = ownMetadata(made);
  assert(metadata && "not a location that attachScope made");
  if (mayHoldScope(loc) || metadata.contains(kSources))
    return attachScope(loc, *ownScope(made));
  return FusedLoc::get(loc.getContext(), {loc}, metadata);
}

Location replaceInScope(Location loc, Location inner) {
  std::optional<Scope> scope = ownScope(loc);
  return scope ? attachScope(inner, *scope, findSources(loc)) : inner;
}

bool haveSameScope(Location a, Location b,
                   llvm::function_ref<bool(StringRef, StringRef)> isSame) {
  if (!mayHoldScope(a) && !mayHoldScope(b))
    return true;
  std::optional<Scope> scope = ownScope(a), other = ownScope(b);
  auto isOnlyScope = [](Location loc) {
    return llvm::none_of(cast<FusedLoc>(loc).getLocations(), mayHoldScope);
  };
  return scope && other && isOnlyScope(a) && isOnlyScope(b) &&
         scope->call == other->call && isSame(scope->path, other->path) &&
         findSources(a) == findSources(b);
}

SmallVector<Scope, 1> findScopes(Location loc) {
  SmallVector<Scope, 1> scopes;
  if (!mayHoldScope(loc))
    return scopes;
  // The common case: the result of attachScope around a location without
  // scopes.
  if (std::optional<Scope> scope = ownScope(loc);
      scope && llvm::none_of(cast<FusedLoc>(loc).getLocations(), mayHoldScope))
    return {*scope};
  loc->walk([&](Location inner) {
    std::optional<Scope> scope = ownScope(inner);
    if (scope && !is_contained(scopes, *scope))
      scopes.push_back(*scope);
    return WalkResult::advance();
  });
  return scopes;
}

/// `metadata` with `map` applied to the scope in it.
static DictionaryAttr mapScope(DictionaryAttr metadata,
                               llvm::function_ref<std::string(StringRef)> map) {
  auto path = metadata.getAs<StringAttr>(kScope);
  if (!path)
    return metadata;
  NamedAttrList mapped(metadata);
  mapped.set(kScope, StringAttr::get(metadata.getContext(), map(path)));
  return mapped.getDictionary(metadata.getContext());
}

Location mapScopes(Location loc,
                   llvm::function_ref<std::string(StringRef)> map) {
  if (!mayHoldScope(loc))
    return loc;
  if (DictionaryAttr metadata = ownMetadata(loc)) {
    ArrayRef<Location> inner = cast<FusedLoc>(loc).getLocations();
    if (llvm::none_of(inner, mayHoldScope))
      return FusedLoc::get(loc.getContext(), inner, mapScope(metadata, map));
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DictionaryAttr metadata) -> Attribute {
    return mapScope(metadata, map);
  });
  return cast<LocationAttr>(replacer.replace(LocationAttr(loc)));
}

std::optional<Scope> findScope(Location loc) {
  SmallVector<Scope, 1> scopes = findScopes(loc);
  return scopes.size() == 1 ? std::optional(scopes.front()) : std::nullopt;
}

Location stripScopes(Location loc) {
  while (DictionaryAttr metadata = ownMetadata(loc))
    loc = withoutOwnScope(cast<FusedLoc>(loc), metadata);
  if (!mayHoldScope(loc))
    return loc;
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LocationAttr inner) -> std::optional<Attribute> {
    DictionaryAttr metadata = ownMetadata(inner);
    if (!metadata)
      return std::nullopt;
    return Attribute(withoutOwnScope(cast<FusedLoc>(inner), metadata));
  });
  return cast<LocationAttr>(replacer.replace(LocationAttr(loc)));
}

} // namespace htp
