// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differences between an outlined function's body and the ops of one call:
// recording them, applying them again, and converting paths between module and
// root.

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cassert>

using namespace mlir;

namespace htp {

/// Attributes of the ONNX importer that are not mere annotations.
static constexpr StringLiteral kMeaningful[] = {
    "onnx.initializer", "onnx.attributes", "onnx.domain", "onnx.overload"};

bool isAnnotation(StringRef name) {
  return name.starts_with("htp.") || name == "onnx_node_name" ||
         name == "onnx_output_names" ||
         (name.starts_with("onnx.") && !llvm::is_contained(kMeaningful, name));
}

DictionaryAttr getUnregisteredProperties(Operation *op) {
  return op->isRegistered()
             ? DictionaryAttr()
             : dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
}

bool isConstant(Operation *op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         op->getNumResults() != 0;
}

bool isAbsentValue(Operation *op) {
  // A constant of unknown type has type `none`, too, but it has a value.
  auto isNote = [](NamedAttribute attribute) {
    return isa<UnitAttr>(attribute.getValue()) ||
           isAnnotation(attribute.getName());
  };
  // An invalid constant may have neither type nor value, but it has a name.
  return isConstant(op) && !op->hasAttr(kOutputNamesAttr) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return isa<NoneType>(type); }) &&
         llvm::all_of(op->getAttrDictionary(), isNote);
}

bool isSunkConstant(Operation *op) {
  return isConstant(op) && op->hasAttr(kSunkAttr);
}

//===----------------------------------------------------------------------===//
// ModuleFrame
//===----------------------------------------------------------------------===//

std::string ModuleFrame::relative(StringRef path) const {
  StringRef rest = path;
  if (rest.consume_front(base)) {
    if (base.empty() || rest.empty())
      return rest.str();
    if (rest.consume_front("."))
      return rest.str();
  }
  return "/" + path.str();
}

std::string ModuleFrame::absolute(StringRef path) const {
  if (path.consume_front("/") || base.empty())
    return path.str();
  return path.empty() ? base : (base + "." + path).str();
}

bool ModuleFrame::isSame(StringRef path, StringRef full) const {
  if (path.consume_front("/") || base.empty())
    return path == full;
  return full.consume_front(base) &&
         (path.empty() ? full.empty()
                       : full.consume_front(".") && full == path);
}

bool ModuleFrame::isSame(TagAttr tag, TagAttr full) const {
  auto isSameContext = [&](ContextAttr own, ContextAttr other) {
    return own.getEvidence() == other.getEvidence() &&
           own.getConfidence().bitwiseIsEqual(other.getConfidence()) &&
           isSame(own.getPath(), other.getPath());
  };
  return tag.getCall() == full.getCall() &&
         tag.getEvidence() == full.getEvidence() &&
         tag.getConfidence().bitwiseIsEqual(full.getConfidence()) &&
         tag.getReason() == full.getReason() &&
         isSame(tag.getPath(), full.getPath()) &&
         llvm::equal(tag.getContexts(), full.getContexts(), isSameContext);
}

bool ModuleFrame::isSameScope(Location loc, Location full) const {
  return haveSameScope(loc, full, [&](StringRef path, StringRef other) {
    return isSame(path, other);
  });
}

bool ModuleFrame::isSame(Location loc, Location full) const {
  // Compare without scopes first: names mostly differ, and that creates no
  // attributes.
  return stripScopes(loc) == stripScopes(full) && absolute(loc) == full;
}

/// `tag` with `map` applied to its paths.
static TagAttr mapPaths(TagAttr tag, function_ref<std::string(StringRef)> map) {
  MLIRContext *context = tag.getContext();
  SmallVector<ContextAttr> contexts;
  for (ContextAttr other : tag.getContexts())
    contexts.push_back(ContextAttr::get(context, map(other.getPath()),
                                        other.getEvidence(),
                                        other.getConfidenceValue()));
  return TagAttr::get(context, map(tag.getPath()), tag.getCall(),
                      tag.getEvidence(), tag.getConfidenceValue(),
                      tag.getReason(), contexts);
}

TagAttr ModuleFrame::relative(TagAttr tag) const {
  return mapPaths(tag, [&](StringRef path) { return relative(path); });
}

TagAttr ModuleFrame::absolute(TagAttr tag) const {
  return mapPaths(tag, [&](StringRef path) { return absolute(path); });
}

Location ModuleFrame::relative(Location loc) const {
  return mapScopes(loc, [&](StringRef path) { return relative(path); });
}

Location ModuleFrame::absolute(Location loc) const {
  return mapScopes(loc, [&](StringRef path) { return absolute(path); });
}

void makeRelative(Operation *op, const ModuleFrame &frame) {
  op->walk([&](Operation *inner) {
    if (TagAttr tag = getTag(inner))
      inner->setAttr(kTagAttr, frame.relative(tag));
    inner->setLoc(frame.relative(inner->getLoc()));
  });
}

void makeAbsolute(Operation *op, const ModuleFrame &frame) {
  op->walk([&](Operation *inner) {
    if (TagAttr tag = getTag(inner))
      inner->setAttr(kTagAttr, frame.absolute(tag));
    inner->setLoc(frame.absolute(inner->getLoc()));
  });
}

TagAttr getAbsoluteTag(Operation *op) {
  TagAttr tag = getTag(op);
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto path = function ? function->getAttrOfType<StringAttr>(kModuleAttr)
                       : StringAttr();
  return tag && path ? ModuleFrame(path).absolute(tag) : tag;
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// The block arguments of an op's regions, which have locations of their own.
static SmallVector<BlockArgument> regionArguments(Operation *op) {
  SmallVector<BlockArgument> arguments;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(arguments, block.getArguments());
  return arguments;
}

static ArrayAttr argumentLocations(Operation *op) {
  return ArrayAttr::get(
      op->getContext(),
      llvm::map_to_vector(regionArguments(op), [](BlockArgument argument) {
        return Attribute(LocationAttr(argument.getLoc()));
      }));
}

/// The annotations of `op`. Collected without getAttrDictionary, which would
/// unique a new dictionary for each op with properties.
static SmallVector<NamedAttribute> annotationsOf(Operation *op) {
  NamedAttrList all(op->getRawDictionaryAttrs());
  if (DictionaryAttr given = getUnregisteredProperties(op))
    all.append(given.begin(), given.end());
  else if (op->getPropertiesStorageSize())
    op->getName().populateInherentAttrs(op, all);
  return llvm::filter_to_vector(all, [](NamedAttribute attribute) {
    return isAnnotation(attribute.getName());
  });
}

static Attribute valueOf(ArrayRef<NamedAttribute> attributes, StringAttr name) {
  auto it = llvm::find_if(attributes, [&](NamedAttribute attribute) {
    return attribute.getName() == name;
  });
  return it == attributes.end() ? Attribute() : it->getValue();
}

/// The names of `attributes` that are not among `others`, or null.
static ArrayAttr namesMissing(ArrayRef<NamedAttribute> attributes,
                              ArrayRef<NamedAttribute> others,
                              MLIRContext *context) {
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : attributes)
    if (!valueOf(others, attribute.getName()))
      names.push_back(attribute.getName());
  if (names.empty())
    return {};
  llvm::sort(names, [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  });
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(names.begin(), names.end()));
}

void recordDifference(Operation *body, Operation *original,
                      const ModuleFrame &frame,
                      SmallVectorImpl<NamedAttribute> &difference,
                      bool withTypes) {
  assert(body->getName() == original->getName() &&
         "only ops of matching bodies are compared");
  Builder builder(body->getContext());
  const size_t begin = difference.size();
  auto append = [&](StringRef key, Attribute value) {
    difference.push_back(builder.getNamedAttr(key, value));
  };
  SmallVector<NamedAttribute> own = annotationsOf(body),
                              others = annotationsOf(original);
  for (NamedAttribute attribute : others) {
    Attribute derived = valueOf(own, attribute.getName());
    auto tag = dyn_cast_or_null<TagAttr>(derived),
         full = dyn_cast<TagAttr>(attribute.getValue());
    bool same =
        tag && full ? frame.isSame(tag, full) : derived == attribute.getValue();
    if (!same)
      difference.push_back(attribute);
  }
  if (ArrayAttr removed = namesMissing(own, others, builder.getContext()))
    append(kRecordedRemoval, removed);
  if (Location loc = body->getLoc(), full = original->getLoc();
      !frame.isSameScope(loc, full)) {
    if (!frame.isSame(loc, full))
      append(kRecordedLocation, LocationAttr(full));
  } else if (Location inner = stripScopes(full); inner != stripScopes(loc)) {
    append(kRecordedInScope, LocationAttr(inner));
  }
  if (withTypes || body->getResultTypes() != original->getResultTypes())
    append(kRecordedTypes, builder.getTypeArrayAttr(
                               SmallVector<Type>(original->getResultTypes())));
  if (original->getNumRegions())
    if (ArrayAttr locations = argumentLocations(original);
        locations != argumentLocations(body))
      append(kRecordedArguments, locations);
  llvm::sort(llvm::drop_begin(difference, begin));
}

void applyDifference(Operation *op, ArrayRef<NamedAttribute> difference) {
  for (NamedAttribute entry : difference) {
    if (entry.getName() == kRecordedLocation) {
      if (auto loc = dyn_cast<LocationAttr>(entry.getValue()))
        op->setLoc(loc);
    } else if (entry.getName() == kRecordedInScope) {
      if (auto inner = dyn_cast<LocationAttr>(entry.getValue()))
        op->setLoc(replaceInScope(op->getLoc(), inner));
    } else if (auto tag = dyn_cast<TagAttr>(entry.getValue());
               tag && findScope(op->getLoc())) {
      // Also sets the scope; a recorded location is applied below.
      setTag(op, tag);
    } else if (entry.getName() == kRecordedTypes) {
      if (auto types = dyn_cast<ArrayAttr>(entry.getValue()))
        for (auto [result, recorded] : llvm::zip(op->getResults(), types))
          if (auto type = dyn_cast<TypeAttr>(recorded))
            result.setType(type.getValue());
    } else if (entry.getName() == kRecordedArguments) {
      if (auto locations = dyn_cast<ArrayAttr>(entry.getValue()))
        for (auto [argument, location] :
             llvm::zip(regionArguments(op), locations))
          if (auto loc = dyn_cast<LocationAttr>(location))
            argument.setLoc(loc);
    } else if (entry.getName() == kRecordedRemoval) {
      if (auto names = dyn_cast<ArrayAttr>(entry.getValue()))
        for (Attribute recorded : names)
          if (auto name = dyn_cast<StringAttr>(recorded))
            op->removeAttr(name);
    } else {
      op->setAttr(entry.getName(), entry.getValue());
    }
  }
}

SmallVector<Operation *> recordedOps(Block &body) {
  SmallVector<Operation *> ops;
  for (Operation &op : opsBeforeLast(body))
    op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (!isAbsentValue(inner) && !isSunkConstant(inner))
        ops.push_back(inner);
    });
  return ops;
}

bool mayBeOne(Type one, Type other) {
  auto left = dyn_cast<ShapedType>(one), right = dyn_cast<ShapedType>(other);
  if (!left || !right)
    return one == other || isa<NoneType>(one) || isa<NoneType>(other);
  return left.getElementType() == right.getElementType() &&
         succeeded(verifyCompatibleShape(left, right));
}

bool mayBeOne(TypeRange some, TypeRange others) {
  return some.size() == others.size() &&
         llvm::all_of(llvm::zip(some, others), [](auto pair) {
           return mayBeOne(std::get<0>(pair), std::get<1>(pair));
         });
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

DenseI64ArrayAttr encodeOrder(MLIRContext *context, ArrayRef<int64_t> places) {
  SmallVector<int64_t> runs;
  for (int64_t place : places) {
    assert(place >= 0 && "positions count from 0");
    if (!runs.empty() && runs[runs.size() - 2] + runs.back() == place)
      ++runs.back();
    else
      runs.append({place, 1});
  }
  return DenseI64ArrayAttr::get(context, runs);
}

SmallVector<int64_t> decodeOrder(DenseI64ArrayAttr runs, size_t count) {
  assert(runs && "no runs to decode");
  SmallVector<int64_t> places;
  ArrayRef<int64_t> values = runs.asArrayRef();
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    const int64_t first = values[i], length = values[i + 1];
    if (first < 0 || length < 0 || uint64_t(length) > count - places.size() ||
        first > std::numeric_limits<int64_t>::max() - length)
      return {};
    for (int64_t k = 0; k < length; ++k)
      places.push_back(first + k);
  }
  if (places.size() != count)
    places.clear();
  return places;
}

} // namespace htp
