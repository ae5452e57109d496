// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes main.mlir in the torch and util dialects for a model with ops of its
// own.

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

/// The name under which IREE's runtime looks up the function of another module.
static std::string importOf(const Layer &layer) {
  return "@" + layer.file + "." + layer.name + "$async";
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

LogicalResult MainFile::write() {
  os << "module @main {\n";
  for (const Layer &layer : model.layers)
    if (failed(writeImport(layer)))
      return failure();
  writeSetter();
  func::FuncOp main = model.main;
  if (failed(writeFunction(main, main.getSymName(), "")))
    return failure();
  os << "}\n";
  return success();
}

/// The value as a builtin tensor; each value is converted only once.
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

/// Converts a weight to a tensor if ops of the main function read it.
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
  if (weights.isOnlyStored(op))
    return success();
  return TorchText::writeOp(op);
}
