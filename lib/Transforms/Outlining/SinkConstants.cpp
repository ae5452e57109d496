// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which operands of outlined functions are small equal constants, and
// replaces them by copies in the body.

#include "SinkConstants.h"
#include "BodyEquivalence.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "ModuleCalls.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace htp {

namespace {

class ConstantSinker {
public:
  ConstantSinker(mlir::ModuleOp module, const ModuleTree &tree, size_t maxBytes)
      : builder(module.getContext()), tree(tree), maxBytes(maxBytes) {
    module->walk([&](func::CallOp call) {
      callsOf[call.getCalleeAttr().getAttr()].push_back(call);
    });
    auto isWeight = [&](Operation *op) {
      bool isKnown = isConstant(op) && op->getNumResults() == 1 &&
                     !parameterPath(op->getResult(0), tree).empty();
      return isKnown ? WalkResult::interrupt() : WalkResult::advance();
    };
    knowsParameters = module->walk(isWeight).wasInterrupted();
  }

  size_t sinkInto(func::FuncOp function);

private:
  bool isCandidate(Value value) const;
  bool isPassedAlike(ArrayRef<func::CallOp> calls, unsigned argument) const;
  Operation *copyInto(Block &body, Operation *constant, int64_t index);
  int64_t numberOf(Operation *constant);

  Builder builder;
  const ModuleTree &tree;
  const size_t maxBytes;
  llvm::DenseMap<Attribute, SmallVector<func::CallOp>> callsOf;
  int64_t numOriginals = 0;
  /// Whether the file names the parameter of any constant. If not, any constant
  /// that is read once may be a weight.
  bool knowsParameters = false;
};

} // namespace

/// The contents of a constant, if it is a single tensor.
static ElementsAttr contentsOf(Operation *op) {
  return dyn_cast_or_null<ElementsAttr>(op->getAttr("value"));
}

/// Whether `value` is a constant that may be copied into a body: small, and not
/// a parameter.
bool ConstantSinker::isCandidate(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isConstant(op) || isAbsentValue(op) || op->getNumResults() != 1)
    return false;
  ElementsAttr contents = contentsOf(op);
  if (!contents || !parameterPath(value, tree).empty())
    return false;
  auto type = cast<ShapedType>(contents.getType());
  if (!type.getElementType().isIntOrFloat())
    return type.getNumElements() <= 1;
  size_t bits = type.getElementTypeBitWidth();
  return type.getNumElements() * ((bits + 7) / 8) <= maxBytes;
}

bool ConstantSinker::isPassedAlike(ArrayRef<func::CallOp> calls,
                                   unsigned argument) const {
  Value first = func::CallOp(calls.front()).getOperand(argument);
  if (!isCandidate(first))
    return false;
  ElementsAttr contents = contentsOf(first.getDefiningOp());
  return llvm::all_of(calls.drop_front(), [&](func::CallOp call) {
    Value other = call.getOperand(argument);
    return other == first ||
           (isCandidate(other) && other.getType() == first.getType() &&
            haveSameContents(contents, contentsOf(other.getDefiningOp())));
  });
}

/// Whether `contents` may be learned weights: more numbers than sizes, axes or
/// bounds have.
static bool isLikeWeight(ElementsAttr contents) {
  constexpr int64_t kFew = 8; // as many as the factors of a Resize
  return isa<FloatType>(contents.getElementType()) &&
         contents.getNumElements() > kFew;
}

/// Copies a constant into the body. Attributes that mark or describe an
/// initializer stay with the original.
Operation *ConstantSinker::copyInto(Block &body, Operation *constant,
                                    int64_t index) {
  Operation *copy = constant->clone();
  for (NamedAttribute attribute : llvm::to_vector(copy->getDiscardableAttrs()))
    if (isAnnotation(attribute.getName()) &&
        attribute.getName() != kOutputNamesAttr)
      copy->removeDiscardableAttr(attribute.getName());
  copy->removeAttr(kInitializerAttr);
  copy->setAttr(kSunkAttr, builder.getI64IntegerAttr(index));
  copy->setAttr(kTagAttr, TagAttr::get(builder.getStringAttr(""), 0));
  copy->setLoc(stripScopes(constant->getLoc()));
  body.push_front(copy);
  return copy;
}

/// The number of a constant in its function: of an original, or of a copy in
/// the function's body.
int64_t ConstantSinker::numberOf(Operation *constant) {
  if (auto copy = constant->getAttrOfType<IntegerAttr>(kSunkAttr))
    return copy.getInt();
  auto number = constant->getAttrOfType<IntegerAttr>(kConstantAttr);
  if (!number) {
    number = builder.getI64IntegerAttr(numOriginals++);
    constant->setAttr(kConstantAttr, number);
  }
  return constant->getParentOp()->hasAttr(kModuleAttr)
             ? constantInBody(number.getInt())
             : number.getInt();
}

size_t ConstantSinker::sinkInto(func::FuncOp function) {
  auto found = callsOf.find(function.getSymNameAttr());
  if (found == callsOf.end())
    return 0;
  ArrayRef<func::CallOp> calls = found->second;
  Block &body = function.front();
  llvm::BitVector sunk(body.getNumArguments());
  std::vector<SmallVector<int64_t>> passed(calls.size());
  SmallVector<Operation *> copies;
  for (unsigned argument : llvm::seq(body.getNumArguments())) {
    if (!isPassedAlike(calls, argument))
      continue;
    Operation *constant =
        func::CallOp(calls.front()).getOperand(argument).getDefiningOp();
    bool isTable = calls.size() > 1 || constant->hasAttr(kSunkAttr);
    if (!knowsParameters && !isTable && isLikeWeight(contentsOf(constant)))
      continue;
    Operation *copy = copyInto(body, constant, copies.size());
    body.getArgument(argument).replaceAllUsesWith(copy->getResult(0));
    for (auto [call, numbers] : llvm::zip(calls, passed))
      numbers.push_back(
          numberOf(func::CallOp(call).getOperand(argument).getDefiningOp()));
    copies.push_back(copy);
    sunk.set(argument);
  }
  if (copies.empty())
    return 0;
  (void)function.eraseArguments(sunk);
  for (auto [call, numbers] : llvm::zip(calls, passed)) {
    Operation *op = func::CallOp(call);
    op->eraseOperands(sunk);
    op->setAttr(kConstantsAttr, builder.getDenseI64ArrayAttr(numbers));
  }
  return copies.size();
}

size_t sinkConstants(mlir::ModuleOp module, ArrayRef<func::FuncOp> functions,
                     const ModuleTree &tree, size_t maxBytes) {
  ConstantSinker sinker(module, tree, maxBytes);
  size_t count = 0;
  // Callers first, as constants that sink into them may sink deeper.
  for (func::FuncOp function : llvm::reverse(functions))
    count += sinker.sinkInto(function);
  // Erase copies that only nested functions needed.
  for (func::FuncOp function : functions)
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      if (op.hasAttr(kSunkAttr) && op.use_empty())
        op.erase();
  return count;
}

} // namespace htp
