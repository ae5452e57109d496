// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BodyEquivalence.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/xxhash.h"

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

/// The tensor of a constant that lies beside the program. Such attributes are
/// names: two of them may stand for the same contents.
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

/// Properties of an op that no dialect knows may hold its name, too: they are
/// compared like other attributes.
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

/// Numbers the values of a body in the order in which they are defined.
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
    // The body's arguments have no number: their order does not matter.
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

/// Walks two bodies side by side.
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
    for (Operation &left : a)
      if (right == b.end() || !equal(left, *right++))
        return false;
    return right == b.end();
  }

  /// A block inside: its arguments have their places.
  bool equal(Block &a, Block &b) {
    if (a.getNumArguments() != b.getNumArguments())
      return false;
    for (auto [left, right] : llvm::zip(a.getArguments(), b.getArguments()))
      if (left.getType() != right.getType() || !match(left, right))
        return false;
    return equalOps(a, b);
  }

  /// The body's own arguments are matched where they are read first. What is
  /// passed must have the type that the function has.
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
    // A dialect may keep it among its properties, and not compare it.
    if (a.getAttr("onnx.domain") != b.getAttr("onnx.domain"))
      return false;
    return meaningOf(a) == meaningOf(b);
  }

  static bool equalProperties(Operation &a, Operation &b) {
    // An op with a tensor has no other properties.
    if (DenseResourceElementsAttr left = resourceOf(a), right = resourceOf(b);
        left || right)
      return haveSameContents(left, right);
    if (getUnregisteredProperties(&a) || getUnregisteredProperties(&b))
      return true; // among the attributes
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
        return false; // control flow inside: not worth comparing
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
