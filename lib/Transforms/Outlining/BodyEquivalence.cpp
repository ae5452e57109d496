// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes bodies, and matches two bodies op by op while pairing their arguments.

#include "BodyEquivalence.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/xxhash.h"

#define DEBUG_TYPE "htp-outline"

using namespace mlir;

namespace htp {

bool haveSameContents(ElementsAttr one, ElementsAttr other) {
  if (one == other)
    return true;
  if (!one || !other || one.getShapedType() != other.getShapedType())
    return false;
  SmallVector<char> left, right;
  auto a = getTensorBytes(one, left), b = getTensorBytes(other, right);
  return a && b && *a == *b;
}

/// The resource that holds a constant's tensor, or null. Resource attributes
/// compare by name, but different names may have equal contents.
static DenseResourceElementsAttr resourceOf(Operation &op) {
  return op.getAttrOfType<DenseResourceElementsAttr>("value");
}

static llvm::hash_code hashContents(DenseResourceElementsAttr resource) {
  SmallVector<char> storage;
  auto bytes = getTensorBytes(resource, storage);
  if (!bytes)
    return mlir::hash_value(Attribute(resource));
  return llvm::hash_combine(
      resource.getType(),
      llvm::xxh3_64bits(ArrayRef<uint8_t>(
          reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size())));
}

/// The attributes that affect what an op computes. Includes the properties of
/// an unregistered op, which may also contain its name.
static SmallVector<NamedAttribute> meaningOf(Operation &op) {
  SmallVector<NamedAttribute> attributes(op.getDiscardableAttrs());
  if (DictionaryAttr given = getUnregisteredProperties(&op))
    llvm::append_range(attributes, given);
  bool hasResource(resourceOf(op));
  llvm::erase_if(attributes, [&](NamedAttribute attribute) {
    return isAnnotation(attribute.getName()) ||
           (hasResource && attribute.getName() == "value");
  });
  return attributes;
}

namespace {

/// Hashes a body, with values numbered in order of definition.
class BodyHasher {
public:
  explicit BodyHasher(bool looseTypes) : looseTypes(looseTypes) {}

  llvm::hash_code hashOps(Block &block) {
    llvm::hash_code code(0);
    for (Operation &op : block)
      code = llvm::hash_combine(code, hash(op));
    return code;
  }

private:
  llvm::hash_code define(Value value) {
    numbers.try_emplace(value, numbers.size() + 1);
    auto shaped = dyn_cast<ShapedType>(value.getType());
    if (looseTypes && shaped)
      return mlir::hash_value(shaped.getElementType());
    return mlir::hash_value(value.getType());
  }

  llvm::hash_code hash(Operation &op) {
    llvm::hash_code code =
        llvm::hash_combine(op.getName(), op.getNumOperands());
    if (auto resource = resourceOf(op))
      code = llvm::hash_combine(code, hashContents(resource));
    else if (!getUnregisteredProperties(&op))
      code = llvm::hash_combine(code, op.hashProperties());
    for (NamedAttribute attribute : meaningOf(op))
      code =
          llvm::hash_combine(code, attribute.getName(), attribute.getValue());
    // Arguments of the body have no number, as their order does not matter.
    for (Value operand : op.getOperands())
      code = llvm::hash_combine(code, numbers.lookup(operand));
    for (Value result : op.getResults())
      code = llvm::hash_combine(code, define(result));
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments())
          code = llvm::hash_combine(code, define(argument));
        code = llvm::hash_combine(code, hashOps(block));
      }
    return code;
  }

  const bool looseTypes;
  llvm::DenseMap<Value, unsigned> numbers;
};

/// Walks two bodies in lockstep and pairs their values.
class BodyComparer {
public:
  explicit BodyComparer(bool looseTypes) : looseTypes(looseTypes) {}

  std::optional<SmallVector<unsigned>> match(Block &a, Block &b) {
    outer = {&a, &b};
    if (!equalOps(a, b))
      return std::nullopt;
    SmallVector<unsigned> arguments;
    for (BlockArgument argument : a.getArguments()) {
      Value found = partner.lookup(argument);
      if (!found)
        return std::nullopt;
      arguments.push_back(cast<BlockArgument>(found).getArgNumber());
    }
    return arguments;
  }

private:
  bool equalOps(Block &a, Block &b) {
    auto right = b.begin();
    for (Operation &left : a) {
      if (right == b.end())
        return false;
      if (!equal(left, *right)) {
        LDBG() << "bodies differ at " << left << " and " << *right;
        return false;
      }
      ++right;
    }
    return right == b.end();
  }

  /// Compares nested blocks, whose arguments are paired by position.
  bool equal(Block &a, Block &b) {
    if (a.getNumArguments() != b.getNumArguments())
      return false;
    for (auto [left, right] : llvm::zip(a.getArguments(), b.getArguments()))
      if (left.getType() != right.getType() || !match(left, right))
        return false;
    return equalOps(a, b);
  }

  /// Pairs the bodies' arguments when they are first read. Their types must be
  /// equal, as operands must have the types of the shared function.
  bool matchOperands(Value left, Value right) {
    if (Value known = partner.lookup(left))
      return known == right;
    auto from = dyn_cast<BlockArgument>(left),
         to = dyn_cast<BlockArgument>(right);
    if (!from || !to || from.getOwner() != outer.first ||
        to.getOwner() != outer.second || from.getType() != to.getType())
      return false;
    partner[left] = right;
    return true;
  }

  bool match(Value left, Value right) {
    partner[left] = right;
    return left.getType() == right.getType() ||
           (looseTypes &&
            getElementTypeOrSelf(left) == getElementTypeOrSelf(right) &&
            succeeded(verifyCompatibleShape(left.getType(), right.getType())));
  }

  static bool equalAttributes(Operation &a, Operation &b) {
    // A dialect may store the domain as a property that it does not compare.
    if (a.getAttr("onnx.domain") != b.getAttr("onnx.domain"))
      return false;
    return meaningOf(a) == meaningOf(b);
  }

  static bool equalProperties(Operation &a, Operation &b) {
    // A constant with a tensor has no other properties.
    if (DenseResourceElementsAttr left = resourceOf(a), right = resourceOf(b);
        left || right)
      return haveSameContents(left, right);
    if (getUnregisteredProperties(&a) || getUnregisteredProperties(&b))
      return true; // compared among the attributes
    return a.getName().compareOpProperties(a.getPropertiesStorage(),
                                           b.getPropertiesStorage());
  }

  bool equal(Operation &a, Operation &b) {
    if (a.getName() != b.getName() ||
        a.getNumOperands() != b.getNumOperands() ||
        a.getNumResults() != b.getNumResults() ||
        a.getNumRegions() != b.getNumRegions() || a.getNumSuccessors() ||
        b.getNumSuccessors() || !equalProperties(a, b) ||
        !equalAttributes(a, b))
      return false;
    for (auto [left, right] : llvm::zip(a.getOperands(), b.getOperands()))
      if (!matchOperands(left, right))
        return false;
    for (auto [left, right] : llvm::zip(a.getResults(), b.getResults()))
      if (!match(left, right))
        return false;
    for (auto [left, right] : llvm::zip(a.getRegions(), b.getRegions())) {
      if (!left.hasOneBlock() || !right.hasOneBlock()) {
        if (left.empty() && right.empty())
          continue;
        return false; // several blocks: not worth comparing
      }
      if (!equal(left.front(), right.front()))
        return false;
    }
    return true;
  }

  const bool looseTypes;
  std::pair<Block *, Block *> outer;
  llvm::DenseMap<Value, Value> partner;
};

} // namespace

llvm::hash_code hashBody(Block &body, bool looseTypes) {
  return BodyHasher(looseTypes).hashOps(body);
}

std::optional<SmallVector<unsigned>> matchBodies(Block &a, Block &b,
                                                 bool looseTypes) {
  return BodyComparer(looseTypes).match(a, b);
}

} // namespace htp
