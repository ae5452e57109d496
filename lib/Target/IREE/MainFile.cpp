// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MainFile.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace htp;

static constexpr StringLiteral kBuffer = "!hal.buffer_view";

MainFile::MainFile(llvm::raw_ostream &os, bool locations,
                   const LayeredModel &model, const Weights &weights)
    : TorchText(os, locations), model(model), weights(weights) {
  for (const Layer &layer : model.layers)
    for (func::CallOp call : layer.calls)
      layers[call] = &layer;
}

/// The function of another module, as IREE's runtime looks for it.
static std::string importOf(const Layer &layer) {
  return "@" + layer.name + "." + layer.name + "$async";
}

LogicalResult MainFile::writeImport(const Layer &layer) {
  line() << "util.func private " << importOf(layer) << '(';
  func::CallOp call = layer.calls.front();
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    FailureOr<std::string> type = weights.takesWeight(layer, index)
                                      ? kBuffer.str()
                                      : builtinTypeOf(operand);
    if (failed(type))
      return failure();
    os << (index ? ", " : "") << "%a" << index << ": " << *type;
  }
  os << ") -> (";
  for (auto [index, result] : llvm::enumerate(call.getResults())) {
    FailureOr<std::string> type = builtinTypeOf(result);
    if (failed(type))
      return failure();
    os << (index ? ", " : "") << *type;
  }
  os << ") attributes {iree.abi.model = \"coarse-fences\", nosideeffects}\n";
  return success();
}

void MainFile::writeSetter() {
  auto numbers = llvm::seq<size_t>(0, weights.size());
  for (size_t i : numbers)
    line() << "util.global private mutable @w" << i << " : " << kBuffer << '\n';
  if (weights.size() == 0)
    return;
  line() << "util.func public @set_weights(";
  llvm::interleaveComma(numbers, os,
                        [&](size_t i) { os << "%w" << i << ": " << kBuffer; });
  os << ") {\n";
  for (size_t i : numbers)
    line() << "  util.global.store %w" << i << ", @w" << i << " : " << kBuffer
           << '\n';
  line() << "  util.return\n";
  line() << "}\n";
}

void MainFile::writeStart() {
  for (size_t i : llvm::seq<size_t>(0, weights.size()))
    line() << "%w" << i << " = util.global.load @w" << i << " : " << kBuffer
           << '\n';
}

/// Whether all that reads `op` is stored as weights itself: a constant that is
/// only transposed.
bool MainFile::isOnlyStored(Operation *op) const {
  return isConstant(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return user->getNumResults() == 1 &&
                  weights.find(user->getResult(0));
         });
}

/// Whether the main function does nothing but call. Then it needs no types of
/// torch's, whose conversion would be a quarter of the time that it takes to
/// compile.
bool MainFile::hasOnlyCalls() const {
  Block &block = func::FuncOp(model.main).front();
  auto isCall = [&](Operation &op) { return layers.contains(&op); };
  auto isPassed = [&](Operation &op) {
    return op.getNumResults() == 1 && weights.find(op.getResult(0)) &&
           llvm::all_of(op.getUses(), [&](OpOperand &use) {
             const Layer *layer = layers.lookup(use.getOwner());
             return layer &&
                    weights.takesWeight(*layer, use.getOperandNumber());
           });
  };
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    return isCall(op) || isOnlyStored(&op) || isPassed(op);
  });
}

FailureOr<std::string> MainFile::builtinTypesOf(ValueRange values) {
  std::string types;
  for (auto [index, value] : llvm::enumerate(values)) {
    FailureOr<std::string> type = builtinTypeOf(value);
    if (failed(type))
      return failure();
    types += (index ? ", " : "") + *type;
  }
  return types;
}

LogicalResult MainFile::writeOnlyCalls() {
  func::FuncOp main = model.main;
  Block &block = main.front();
  ValueRange results = block.getTerminator()->getOperands();
  isPlain = true;
  line() << "func.func @" << main.getSymName() << '(';
  for (BlockArgument argument : block.getArguments()) {
    FailureOr<std::string> type = builtinTypeOf(argument);
    if (failed(type))
      return failure();
    builtin[argument] = "%arg" + std::to_string(argument.getArgNumber());
    os << (argument.getArgNumber() ? ", " : "") << builtin[argument] << ": "
       << *type;
  }
  FailureOr<std::string> types = builtinTypesOf(results);
  if (failed(types))
    return failure();
  os << ") -> (" << *types << ") {\n";
  writeStart();
  for (auto call : block.getOps<func::CallOp>())
    if (failed(writeCall(call, *layers.lookup(call))))
      return failure();
  line() << "return ";
  llvm::interleaveComma(results, os,
                        [&](Value value) { os << builtin[value]; });
  os << " : " << *types << '\n';
  line() << '}';
  end(main.getLoc());
  return success();
}

LogicalResult MainFile::write() {
  os << "module @main {\n";
  for (const Layer &layer : model.layers)
    if (failed(writeImport(layer)))
      return failure();
  writeSetter();
  func::FuncOp main = model.main;
  if (failed(hasOnlyCalls() ? writeOnlyCalls()
                            : writeFunction(main, main.getSymName(), "")))
    return failure();
  os << "}\n";
  return success();
}

/// The value as a builtin tensor; one conversion for all who ask.
FailureOr<std::string> MainFile::asBuiltin(Value value) {
  std::string &known = builtin[value];
  if (!known.empty())
    return known;
  FailureOr<std::string> type = typeOf(value), plain = builtinTypeOf(value);
  if (failed(type) || failed(plain))
    return failure();
  known = freshName();
  line() << known << " = torch_c.to_builtin_tensor " << nameOf(value) << " : "
         << *type << " -> " << *plain << '\n';
  return known;
}

/// A weight that ops of the main function read is made a tensor of for them.
LogicalResult MainFile::writeWeight(Value constant, unsigned number) {
  bool isRead = llvm::any_of(constant.getUses(), [&](OpOperand &use) {
    const Layer *layer = layers.lookup(use.getOwner());
    return !layer || !weights.takesWeight(*layer, use.getOperandNumber());
  });
  if (!isRead)
    return success();
  FailureOr<std::string> type = typeOf(constant),
                         plain = builtinTypeOf(constant);
  if (failed(type) || failed(plain))
    return failure();
  std::string tensor = freshName();
  line() << tensor << " = hal.tensor.import %w" << number << " : " << kBuffer
         << " -> " << *plain << '\n';
  builtin[constant] = tensor;
  setName(constant, freshName());
  line() << nameOf(constant) << " = torch_c.from_builtin_tensor " << tensor
         << " : " << *plain << " -> " << *type;
  end(constant.getLoc());
  return success();
}

LogicalResult MainFile::writeCall(func::CallOp call, const Layer &layer) {
  std::string operands, operandTypes, resultTypes;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    FailureOr<std::string> name, type;
    if (weights.takesWeight(layer, index)) {
      name = "%w" + std::to_string(*weights.find(operand));
      type = kBuffer.str();
    } else {
      name = asBuiltin(operand);
      type = builtinTypeOf(operand);
    }
    if (failed(name) || failed(type))
      return failure();
    operands += (index ? ", " : "") + *name;
    operandTypes += (index ? ", " : "") + *type;
  }
  std::string name = freshName();
  for (OpResult result : call.getResults()) {
    FailureOr<std::string> type = builtinTypeOf(result);
    if (failed(type))
      return failure();
    unsigned index = result.getResultNumber();
    builtin[result] =
        call.getNumResults() == 1 ? name : name + "#" + std::to_string(index);
    resultTypes += (index ? ", " : "") + *type;
  }
  line() << name;
  if (call.getNumResults() != 1)
    os << ':' << call.getNumResults();
  os << " = util.call " << importOf(layer) << '(' << operands << ") : ("
     << operandTypes << ") -> (" << resultTypes << ")";
  end(call.getLoc());
  if (isPlain)
    return success();
  for (OpResult result : call.getResults()) {
    setName(result, freshName());
    line() << nameOf(result) << " = torch_c.from_builtin_tensor "
           << builtin[result] << " : " << *builtinTypeOf(result) << " -> "
           << *typeOf(result) << '\n';
  }
  return success();
}

LogicalResult MainFile::writeOp(Operation *op) {
  if (const Layer *layer = layers.lookup(op))
    return writeCall(cast<func::CallOp>(op), *layer);
  if (op->getNumResults() == 1)
    if (std::optional<unsigned> number = weights.find(op->getResult(0)))
      return writeWeight(op->getResult(0), *number);
  if (isOnlyStored(op))
    return success();
  return TorchText::writeOp(op);
}
