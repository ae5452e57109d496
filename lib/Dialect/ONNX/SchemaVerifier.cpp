// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies operations against the schema that the opset import selects.

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace htp::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;

/// "2", "at least 1" or "1 to 3".
static std::string describeRange(int least, int most) {
  if (least == most)
    return llvm::utostr(least);
  if (most == std::numeric_limits<int>::max())
    return "at least " + llvm::utostr(least);
  return llvm::utostr(least) + " to " + llvm::utostr(most);
}

/// "version 13 of MatMul".
static std::string describe(const OpSchema &schema) {
  return "version " + llvm::utostr(schema.SinceVersion()) + " of " +
         schema.Name();
}

static LogicalResult verifyCount(Operation *op, const OpSchema &schema,
                                 StringRef what, int count, int least,
                                 int most) {
  if (count >= least && count <= most)
    return success();
  return op->emitOpError() << "has " << count << ' ' << what << ", but "
                           << describe(schema) << " has "
                           << describeRange(least, most);
}

static bool isInt(Attribute attr) {
  auto integer = dyn_cast<IntegerAttr>(attr);
  return integer && integer.getType().isInteger(64);
}
static bool isFloat(Attribute attr) {
  auto number = dyn_cast<FloatAttr>(attr);
  return number && number.getType().isF32();
}
static bool isListOf(Attribute attr, bool (*predicate)(Attribute)) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return list && llvm::all_of(list, predicate);
}
static bool isString(Attribute attr) { return isa<StringAttr>(attr); }

/// Whether the attribute has the type that the schema declares.
static bool hasType(Attribute attr, AttributeProto::AttributeType type) {
  switch (type) {
  case AttributeProto::INT:
    // A data type may be given as an MLIR type, as onnx-mlir does for Cast.
    return isInt(attr) || isa<TypeAttr>(attr);
  case AttributeProto::FLOAT:
    return isFloat(attr);
  case AttributeProto::STRING:
    return isString(attr);
  case AttributeProto::INTS:
    return isListOf(attr, isInt);
  case AttributeProto::FLOATS:
    return isListOf(attr, isFloat);
  case AttributeProto::STRINGS:
    return isListOf(attr, isString);
  case AttributeProto::TENSOR:
    return isa<ElementsAttr, ExternalAttr>(attr);
  case AttributeProto::TYPE_PROTO:
    return isa<TypeAttr>(attr);
  default:
    return true;
  }
}

/// "a list of integers", for messages.
static StringRef describe(AttributeProto::AttributeType type) {
  switch (type) {
  case AttributeProto::INT:
    return "an integer (si64)";
  case AttributeProto::FLOAT:
    return "a float (f32)";
  case AttributeProto::STRING:
    return "a string";
  case AttributeProto::INTS:
    return "a list of integers (si64)";
  case AttributeProto::FLOATS:
    return "a list of floats (f32)";
  case AttributeProto::STRINGS:
    return "a list of strings";
  case AttributeProto::TENSOR:
    return "a tensor";
  case AttributeProto::TYPE_PROTO:
    return "a type";
  case AttributeProto::GRAPH:
    return "a region";
  default:
    return "something else";
  }
}

static LogicalResult verifyAttribute(Operation *op, const OpSchema &schema,
                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  // Any operator may carry tags as attributes (--tag-storage=attribute).
  if (isReservedAttrName(name))
    return verifyNote(op, attr);
  if (name == "source_module" || name == "hierarchy_tags")
    return success();
  auto it = schema.attributes().find(name.str());
  if (it == schema.attributes().end())
    return op->emitOpError() << "has an attribute '" << name << "', which "
                             << describe(schema) << " does not have";
  if (!hasType(attr.getValue(), it->second.type))
    return op->emitOpError()
           << "has attribute '" << name << "' = " << attr.getValue() << ", but "
           << describe(schema) << " wants " << describe(it->second.type);
  return success();
}

static LogicalResult verifyAttributes(Operation *op, const OpSchema &schema) {
  return success(llvm::all_of(getAllAttrs(op), [&](NamedAttribute attr) {
    return succeeded(verifyAttribute(op, schema, attr));
  }));
}

/// Whether the attribute is among those that the importer kept in protobuf form
/// (`onnx.attributes`), as MLIR cannot represent them.
static bool isInRest(Operation *op, StringRef name) {
  auto rest = op->getAttrOfType<ArrayAttr>("onnx.attributes");
  return rest && llvm::any_of(rest.getAsRange<DictionaryAttr>(),
                              [&](DictionaryAttr entry) {
                                auto own = entry.getAs<StringAttr>("name");
                                return own && own.getValue() == name;
                              });
}

static LogicalResult verifyRequired(Operation *op,
                                    const OperatorSchemas::Version &version) {
  for (StringRef name : version.required) {
    bool present = llvm::is_contained(version.graphs, name)
                       ? llvm::is_contained(getRegionNames(op), name)
                       : op->hasAttr(name);
    if (!present && !isInRest(op, name))
      return op->emitOpError() << "has no attribute '" << name << "', which "
                               << describe(*version.schema) << " requires";
  }
  return success();
}

static LogicalResult verifyRegions(Operation *op,
                                   const OperatorSchemas::Version &version) {
  if (!op->getNumRegions() && version.graphs.empty())
    return success();
  SmallVector<StringRef> names = getRegionNames(op);
  if (names.size() != op->getNumRegions())
    return op->emitOpError()
           << "has " << op->getNumRegions() << " regions, but "
           << describe(*version.schema) << " has " << names.size();
  for (auto [name, region] : llvm::zip_equal(names, op->getRegions())) {
    if (!region.hasOneBlock())
      return op->emitOpError() << "expects one block in '" << name << "'";
    Block &block = region.front();
    if (block.empty() || !isa<YieldOp, ReturnOp>(block.back()))
      return op->emitOpError()
             << "expects '" << name << "' to end in onnx.Yield";
  }
  return success();
}

/// Whether the op fits the schema by its numbers of operands and results and
/// its attribute names.
static bool fits(Operation *op, const OpSchema &schema) {
  int inputs = op->getNumOperands(), outputs = op->getNumResults();
  if (inputs < schema.min_input() || inputs > schema.max_input() ||
      outputs < schema.min_output() || outputs > schema.max_output())
    return false;
  return llvm::all_of(getAllAttrs(op), [&](NamedAttribute attr) {
    return isReservedAttrName(attr.getName()) ||
           schema.attributes().count(attr.getName().str());
  });
}

/// The schema version to verify against. onnx-mlir's text has no opset imports;
/// then it is the newest version that the operation fits.
static const OperatorSchemas::Version *
selectVersion(Operation *op, const OperatorSchemas &schemas) {
  int64_t opset = getOpsetVersion(op, schemas.domain);
  if (opset == 0)
    for (const auto &version : llvm::reverse(schemas.versions))
      if (fits(op, *version.schema))
        return &version;
  return schemas.at(opset);
}

LogicalResult htp::onnx::verifyAgainstSchema(Operation *op,
                                             const OperatorSchemas &schemas) {
  const OperatorSchemas::Version *version = selectVersion(op, schemas);
  // The library does not know this version, so there is nothing to verify.
  if (!version)
    return success();
  const OpSchema &schema = *version->schema;
  if (failed(verifyCount(op, schema, "inputs", op->getNumOperands(),
                         schema.min_input(), schema.max_input())) ||
      failed(verifyCount(op, schema, "outputs", op->getNumResults(),
                         schema.min_output(), schema.max_output())))
    return failure();
  if (failed(verifyAttributes(op, schema)) ||
      failed(verifyRegions(op, *version)))
    return failure();
  return verifyRequired(op, *version);
}
