// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads names, kinds, metadata and contents of nodes from their attributes.

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Support/TensorBytes.h"

#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace htp {

bool isInitializer(Operation *op) {
  // Registered ops never have it as a property; hasAttr would be slower.
  return op->getDiscardableAttr(kInitializerAttr) ||
         (!op->isRegistered() && op->hasAttr(kInitializerAttr));
}

/// Whether `op` ends its block. An unregistered op (an `onnx.Return` in a stock
/// mlir-opt) is recognized by its position.
static bool isTerminator(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         (!op->isRegistered() && op->getNumResults() == 0 && !getTag(op) &&
          op == &op->getBlock()->back());
}

/// Whether `op`, which must be inside a function, is a node.
static bool isNodeOfFunction(Operation *op) {
  return !isInitializer(op) && !isTerminator(op) &&
         !isa<SymbolOpInterface>(op) &&
         !isa_and_nonnull<HTPDialect>(op->getDialect()) &&
         !isAbsentValue(op) && // onnx.NoValue
         !isSunkConstant(op);
}

bool isNode(Operation *op) {
  return isNodeOfFunction(op) && op->getParentOfType<FunctionOpInterface>();
}

bool needsTag(Operation *op) {
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  auto hasTag = [](Operation *node) { return isNode(node) && getTag(node); };
  return isNode(op) && (getTag(op) || !hasTag(op->getParentOp()) ||
                        llvm::any_of(op->getOperandTypes(), isShaped) ||
                        llvm::any_of(op->getResultTypes(), isShaped));
}

/// Visits the nodes of all functions for which `wanted` is true. The context of
/// nodes is checked once per function rather than once per node.
static void forEachNodeIn(mlir::ModuleOp module,
                          llvm::function_ref<bool(FunctionOpInterface)> wanted,
                          llvm::function_ref<void(Operation *)> visit) {
  module->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (wanted(function))
      function->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isNodeOfFunction(op))
          visit(op);
      });
    return WalkResult::skip();
  });
}

void forEachNode(mlir::ModuleOp module,
                 llvm::function_ref<void(Operation *)> visit) {
  forEachNodeIn(module, [](FunctionOpInterface) { return true; }, visit);
}

void forEachRootedNode(mlir::ModuleOp module,
                       llvm::function_ref<void(Operation *)> visit) {
  forEachNodeIn(
      module,
      [](FunctionOpInterface function) {
        return !function->hasAttr(kModuleAttr);
      },
      visit);
}

/// onnx-mlir names old versions of some operators SoftmaxV11 and the like.
static StringRef withoutVersion(StringRef name) {
  if (name.empty() || !llvm::isDigit(name.back()))
    return name;
  StringRef stem = name.rtrim("0123456789");
  return stem.consume_back("V") && !stem.empty() ? stem : name;
}

StringRef getOpType(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("function_name"))
    return name.getValue();
  StringRef name = op->getName().stripDialect();
  return op->getName().getDialectNamespace() == "onnx" ? withoutVersion(name)
                                                       : name;
}

StringRef getDomain(Operation *op) {
  if (auto domain = op->getAttrOfType<StringAttr>("domain_name"))
    return domain.getValue();
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "onnx" ? StringRef() : dialect;
}

bool isForeign(Operation *op) {
  auto domain = op->getAttrOfType<StringAttr>("domain_name");
  return domain && !domain.empty();
}

static FunctionId makeId(Operation *op, StringRef domain, StringRef name,
                         StringRef overload) {
  auto called = op->getAttrOfType<StringAttr>(name);
  if (!called) // most nodes are no calls: ask for nothing else
    return {};
  auto text = [&](StringRef attribute) {
    auto value = op->getAttrOfType<StringAttr>(attribute);
    return value ? value : StringAttr::get(op->getContext());
  };
  return {text(domain), called, text(overload)};
}

FunctionId functionId(Operation *function) {
  return makeId(function, "onnx.function_domain", "onnx.function_name",
                kFunctionOverloadAttr);
}

FunctionId calledFunctionId(Operation *node) {
  return makeId(node, "domain_name", "function_name", kOverloadAttr);
}

StringRef getNodeName(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kNodeNameAttr);
  return name ? name.getValue() : StringRef();
}

StringAttr getValueNameAttr(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto names = result.getOwner()->getAttrOfType<ArrayAttr>(kOutputNamesAttr);
    return names && result.getResultNumber() < names.size()
               ? dyn_cast<StringAttr>(names[result.getResultNumber()])
               : StringAttr();
  }
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock()
             ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     kValueNameAttr)
             : StringAttr();
}

StringRef getValueName(Value value) {
  StringAttr name = getValueNameAttr(value);
  return name ? name.getValue() : StringRef();
}

void forEachMetadata(Attribute metadata,
                     llvm::function_ref<void(StringRef, StringAttr)> visit) {
  auto entries = dyn_cast_or_null<ArrayAttr>(metadata);
  for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>())
    if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
      if (auto key = dyn_cast<StringAttr>(pair[0]))
        visit(key, dyn_cast<StringAttr>(pair[1]));
}

StringAttr getMetadata(Operation *op, StringRef key) {
  StringAttr found;
  forEachMetadata(op->getAttr(kMetadataAttr),
                  [&](StringRef other, StringAttr value) {
                    if (!found && other == key)
                      found = value;
                  });
  return found;
}

bool isCopy(Operation *op) {
  return llvm::StringSwitch<bool>(getOpType(op))
      .Cases({"Identity", "Cast", "Transpose"}, true)
      .Cases({"QuantizeLinear", "DequantizeLinear"}, true)
      .Default(false);
}

bool isCalled(Operation *op, StringRef name) {
  return getNodeName(op) == name ||
         llvm::any_of(op->getResults(), [&](Value result) {
           return getValueName(result) == name;
         });
}

ArgumentAttrs::ArgumentAttrs(FunctionOpInterface function)
    : function(function) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    lists.emplace_back(function.getArgAttrs(i));
}

void ArgumentAttrs::store() {
  MLIRContext *context = function.getContext();
  function.setAllArgAttrs(llvm::map_to_vector(
      lists, [&](NamedAttrList &list) { return list.getDictionary(context); }));
}

SmallVector<StringRef> taggedReaders(Value value) {
  llvm::SetVector<StringRef> readers;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (TagAttr tag = getTag(user); tag && !isCopy(user))
        readers.insert(tag.getPath());
      if (isCopy(user))
        llvm::append_range(worklist, user->getResults());
    }
  // If only copies read the value, use the modules of the copies.
  if (readers.empty())
    for (Operation *user : value.getUsers())
      if (TagAttr tag = getTag(user))
        readers.insert(tag.getPath());
  SmallVector<StringRef> sorted = readers.takeVector();
  llvm::sort(sorted); // use lists are not in program order
  return sorted;
}

std::optional<ArrayRef<char>> getTensorBytes(Attribute tensor,
                                             SmallVectorImpl<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(tensor)) {
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? std::optional(blob->getData()) : std::nullopt;
  }
  if (auto *elsewhere = dyn_cast<TensorBytesInterface>(&tensor.getDialect()))
    return elsewhere->getBytes(tensor);
  auto dense = dyn_cast<DenseElementsAttr>(tensor);
  if (!dense || !dense.getElementType().isIntOrFloat())
    return std::nullopt;
  ArrayRef<char> raw = dense.getRawData();
  if (dense.getElementType().isInteger(1)) {
    // MLIR packs bools as bits; PyTorch and ONNX store a byte each.
    for (bool value : dense.getValues<bool>())
      storage.push_back(value);
    return ArrayRef<char>(storage);
  }
  if (!dense.isSplat())
    return raw;
  storage.reserve(raw.size() * dense.getNumElements());
  for (int64_t i = 0, e = dense.getNumElements(); i < e; ++i)
    storage.append(raw.begin(), raw.end());
  return ArrayRef<char>(storage);
}

} // namespace htp
