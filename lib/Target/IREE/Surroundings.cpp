// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the ops before the first layer and after the last one, and outlines
// them.

#include "Surroundings.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "Weights.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace htp;

namespace {

class Surroundings {
public:
  explicit Surroundings(LayeredModel &model)
      : model(model), main(model.main), block(model.main.front()) {
    for (const Layer &layer : model.layers)
      for (func::CallOp call : layer.calls)
        layerCalls.insert(call);
  }

  void run();

private:
  using Segment = llvm::SetVector<Operation *>;
  struct Border {
    llvm::SetVector<Value> inputs; ///< values passed to it
    llvm::SetVector<Value> inside; ///< constants whose values it needs
    SmallVector<Value> results;
  };

  llvm::DenseSet<Operation *> findNeeded() const;
  Segment findBefore() const;
  Segment findAfter() const;
  Border findBorder(const Segment &segment) const;
  bool canCross(Value value) const;
  void hoistConstants();
  void separate(const Segment &segment, StringRef name, bool atEnd);

  LayeredModel &model;
  func::FuncOp main;
  Block &block;
  llvm::DenseSet<Operation *> layerCalls;
};

} // namespace

/// Constants and stored weights, which take no time and stay in main.
static bool isHeld(Operation *op) {
  return isConstant(op) ||
         (op->getNumResults() == 1 && Weights::isStored(op->getResult(0)));
}

/// Calls `use` with every op of `block` whose results are read by `op` or by
/// ops nested in it.
static void forEachProducer(Operation *op, Block &block,
                            function_ref<void(Operation *)> use) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && producer->getBlock() == &block)
        use(producer);
  });
}

/// The ops that layers depend on.
llvm::DenseSet<Operation *> Surroundings::findNeeded() const {
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (layerCalls.contains(&op) || needed.contains(&op))
      forEachProducer(&op, block,
                      [&](Operation *producer) { needed.insert(producer); });
  return needed;
}

/// The ops that layers depend on and that depend on no layer.
Surroundings::Segment Surroundings::findBefore() const {
  llvm::DenseSet<Operation *> needed = findNeeded(), behind;
  Segment segment;
  for (Operation &op : block.without_terminator()) {
    bool isBehind = layerCalls.contains(&op);
    forEachProducer(&op, block, [&](Operation *producer) {
      isBehind |= behind.contains(producer);
    });
    if (isBehind)
      behind.insert(&op);
    else if (needed.contains(&op) && !isHeld(&op))
      segment.insert(&op);
  }
  return segment;
}

/// The ops that no layer depends on.
Surroundings::Segment Surroundings::findAfter() const {
  llvm::DenseSet<Operation *> needed = findNeeded();
  Segment segment;
  for (Operation &op : block.without_terminator())
    if (!needed.contains(&op) && !isHeld(&op) && !isa<func::CallOp>(op))
      segment.insert(&op);
  return segment;
}

Surroundings::Border Surroundings::findBorder(const Segment &segment) const {
  Border border;
  for (Operation *op : segment) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        Block *at = operand.getParentBlock();
        if (at != &block || (producer && segment.contains(producer)))
          continue;
        bool isSeen =
            producer && isConstant(producer) && !Weights::isWeight(*producer);
        (isSeen ? border.inside : border.inputs).insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !segment.contains(block.findAncestorOpInBlock(*user));
          }))
        border.results.push_back(result);
  }
  return border;
}

/// Whether a value can be passed between files. If the model's inputs have
/// static shapes, IREE may infer a size that the type lacks, but only within
/// one file.
bool Surroundings::canCross(Value value) const {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasStaticShape();
  };
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIntOrFloat() &&
         (type.hasStaticShape() ||
          !llvm::all_of(block.getArgumentTypes(), isStatic));
}

/// Moves constants to the top, so that calls that take them can be placed
/// anywhere.
void Surroundings::hoistConstants() {
  Operation *last = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isHeld(&op))
      continue;
    if (last)
      op.moveAfter(last);
    else
      op.moveBefore(&block.front());
    last = &op;
  }
}

void Surroundings::separate(const Segment &segment, StringRef name,
                            bool atEnd) {
  Border border = findBorder(segment);
  auto crosses = [&](Value value) { return canCross(value); };
  if (border.results.empty() || !llvm::all_of(border.inputs, crosses) ||
      !llvm::all_of(border.results, crosses))
    return;
  OpBuilder builder(main.getContext());
  auto type = builder.getFunctionType(
      TypeRange(ValueRange(border.inputs.getArrayRef())),
      TypeRange(ValueRange(border.results)));
  auto function = func::FuncOp::create(main.getLoc(), name, type);
  function.setPrivate();
  function->setAttr(kModuleAttr, builder.getStringAttr(""));
  SymbolTable(main->getParentOfType<mlir::ModuleOp>()).insert(function);
  Block *body = function.addEntryBlock();

  if (atEnd)
    builder.setInsertionPoint(block.getTerminator());
  else
    builder.setInsertionPoint(segment.front());
  auto call = func::CallOp::create(builder, main.getLoc(), function,
                                   border.inputs.getArrayRef());
  call->setAttr(kTagAttr, TagAttr::get(builder.getStringAttr(""), 0));

  llvm::DenseMap<Value, Value> replacements;
  for (auto [input, argument] : llvm::zip(border.inputs, body->getArguments()))
    replacements[input] = argument;
  for (Value constant : border.inside) {
    Operation *copy = constant.getDefiningOp()->clone();
    body->push_back(copy);
    replacements[constant] = copy->getResult(0);
  }
  for (auto [value, result] : llvm::zip(border.results, call.getResults()))
    Value(value).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !segment.contains(block.findAncestorOpInBlock(*use.getOwner()));
    });
  for (Operation *op : segment) {
    op->moveBefore(body, body->end());
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value replacement = replacements.lookup(operand.get()))
          operand.set(replacement);
    });
  }
  OperationState end(main.getLoc(), block.getTerminator()->getName());
  end.addOperands(border.results);
  body->push_back(Operation::create(end));
  model.layers.push_back({function, "", name.str(), {call}, kAroundFile.str()});
}

void Surroundings::run() {
  hoistConstants();
  separate(findBefore(), "main_before", /*atEnd=*/false);
  separate(findAfter(), "main_after", /*atEnd=*/true);
}

void htp::separateSurroundings(LayeredModel &model) {
  if (!model.layers.empty())
    Surroundings(model).run();
}
