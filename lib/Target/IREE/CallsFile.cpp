// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes main.mlir in the vm dialect for a model that only calls its layers.

#include "CallsFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace htp;

static constexpr StringLiteral kBuffer = "!vm.ref<!hal.buffer_view>";
static constexpr StringLiteral kFence = "!vm.ref<!hal.fence>";
static constexpr StringLiteral kDevice = "!vm.ref<!hal.device>";

/// `(type, type, …)`; a single type has no parentheses.
static std::string several(size_t count, StringRef type) {
  std::string all = llvm::join(SmallVector<StringRef>(count, type), ", ");
  return count == 1 ? all : "(" + all + ")";
}

/// The name that IREE's compiler gives to the asynchronous version of a layer's
/// function, which waits for one fence and signals another.
static std::string importOf(const Layer &layer) {
  return "@" + layer.file + "." + layer.name + "$async";
}

CallsFile::CallsFile(llvm::raw_ostream &os, bool locations,
                     const LayeredModel &model, const Weights &weights)
    : TorchText(os, locations), model(model), weights(weights) {
  for (const Layer &layer : model.layers)
    for (func::CallOp call : layer.calls)
      layers[call] = &layer;
}

bool CallsFile::fits(const LayeredModel &model, const Weights &weights) {
  llvm::DenseMap<Operation *, const Layer *> layers;
  for (const Layer &layer : model.layers)
    for (func::CallOp call : layer.calls)
      layers[call] = &layer;
  auto isPassed = [&](Operation &op) {
    return op.getNumResults() == 1 && weights.find(op.getResult(0)) &&
           llvm::all_of(op.getUses(), [&](OpOperand &use) {
             const Layer *layer = layers.lookup(use.getOwner());
             return layer &&
                    weights.takesWeight(*layer, use.getOperandNumber());
           });
  };
  return llvm::all_of(func::FuncOp(model.main).front().without_terminator(),
                      [&](Operation &op) {
                        return layers.contains(&op) || isPassed(op) ||
                               weights.isOnlyStored(&op);
                      });
}

/// Buffers are untyped here, but fail early on types that IREE does not
/// support.
LogicalResult CallsFile::checkTypes() {
  SmallVector<Value> passed;
  Block &block = func::FuncOp(model.main).front();
  llvm::append_range(passed, block.getArguments());
  for (auto call : block.getOps<func::CallOp>()) {
    llvm::append_range(passed, call.getOperands());
    llvm::append_range(passed, call.getResults());
  }
  return success(llvm::all_of(
      passed, [&](Value value) { return succeeded(builtinTypeOf(value)); }));
}

void CallsFile::writeImports() {
  for (const Layer &layer : model.layers) {
    func::CallOp call = layer.calls.front();
    line() << "vm.import private " << importOf(layer) << '(';
    for (size_t i : llvm::seq<size_t>(0, call.getNumOperands()))
      os << "%a" << i << " : " << kBuffer << ", ";
    os << "%wait : " << kFence << ", %signal : " << kFence << ") -> "
       << several(call.getNumResults(), kBuffer) << '\n';
  }
  line() << "vm.import private @hal.devices.get(%index : i32) -> " << kDevice
         << " attributes {nosideeffects}\n";
  line() << "vm.import private @hal.fence.create(%device : " << kDevice
         << ", %flags : i64) -> " << kFence << '\n';
  line() << "vm.import private @hal.fence.join(%flags : i64, %fences : "
         << kFence << " ...) -> " << kFence << " attributes {nosideeffects}\n";
  line() << "vm.import private @hal.fence.await(%timeout_millis : i32, %flags "
            ": i64, %fences : "
         << kFence << " ...) -> i32 attributes {vm.yield}\n";
}

void CallsFile::writeSetter() {
  auto numbers = llvm::seq<size_t>(0, weights.size());
  for (size_t i : numbers)
    line() << "vm.global.ref private mutable @w" << i << " : " << kBuffer
           << '\n';
  if (weights.size() == 0)
    return;
  line() << "vm.func private @set_weights(";
  llvm::interleaveComma(numbers, os,
                        [&](size_t i) { os << "%w" << i << ": " << kBuffer; });
  os << ") {\n";
  for (size_t i : numbers)
    line() << "  vm.global.store.ref %w" << i << ", @w" << i << " : " << kBuffer
           << '\n';
  line() << "  vm.return\n";
  line() << "}\n";
  line() << "vm.export @set_weights attributes {iree.abi.stub}\n";
}

std::string CallsFile::writeFence() {
  std::string name = "%f" + std::to_string(numFences++);
  line() << "  " << name << " = vm.call @hal.fence.create(%device, %flags) : ("
         << kDevice << ", i64) -> " << kFence << '\n';
  return name;
}

SmallVector<StringRef> CallsFile::fencesOf(ValueRange values) const {
  SmallVector<StringRef> found;
  for (Value value : values)
    if (auto fence = fences.find(value); fence != fences.end())
      if (!llvm::is_contained(found, fence->second))
        found.push_back(fence->second);
  return found;
}

std::string CallsFile::writeJoined(ArrayRef<StringRef> found) {
  if (found.empty())
    return "%none";
  if (found.size() == 1)
    return found.front().str();
  std::string name = "%f" + std::to_string(numFences++);
  line() << "  " << name << " = vm.call.variadic @hal.fence.join(%flags, ["
         << llvm::join(found, ", ") << "]) {nosideeffects} : (i64, " << kFence
         << " ...) -> " << kFence << '\n';
  return name;
}

void CallsFile::writeCall(func::CallOp call, const Layer &layer) {
  SmallVector<Value> awaited;
  std::string operands;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (weights.takesWeight(layer, index)) {
      // Load each weight right before its call, as the VM has few registers.
      std::string name = freshName();
      line() << "  " << name << " = vm.global.load.ref @w"
             << *weights.find(operand) << " : " << kBuffer << '\n';
      operands += name + ", ";
    } else {
      awaited.push_back(operand);
      operands += nameOf(operand) + ", ";
    }
  }
  std::string wait = writeJoined(fencesOf(awaited)), signal = writeFence();
  std::string name = freshName();
  for (OpResult result : call.getResults()) {
    setName(result,
            call.getNumResults() == 1
                ? name
                : name + "#" + std::to_string(result.getResultNumber()));
    fences[result] = signal;
  }
  line() << "  " << name;
  if (call.getNumResults() != 1)
    os << ':' << call.getNumResults();
  os << " = vm.call " << importOf(layer) << '(' << operands << wait << ", "
     << signal << ") : (";
  for (size_t i = 0; i < call.getNumOperands(); ++i)
    os << kBuffer << ", ";
  os << kFence << ", " << kFence << ") -> "
     << several(call.getNumResults(), kBuffer);
  end(call.getLoc());
}

/// Waits for the fences of all outputs, and fails if a layer failed.
void CallsFile::writeEnd() {
  ValueRange results =
      func::FuncOp(model.main).front().getTerminator()->getOperands();
  auto writeReturn = [&] {
    line() << "  vm.return";
    for (auto [index, value] : llvm::enumerate(results))
      os << (index ? ", " : " ") << nameOf(value);
    for (size_t index : llvm::seq<size_t>(0, results.size()))
      os << (index ? ", " : " : ") << kBuffer;
    os << '\n';
  };
  SmallVector<StringRef> last = fencesOf(results);
  if (last.empty()) // all outputs are inputs
    return writeReturn();
  line() << "  vm.call.variadic.yieldable @hal.fence.await(%forever, %flags, "
         << llvm::join(last, ", ") << ") <segment_sizes = dense<[-1, -1, "
         << last.size() << "]> : vector<3xi16>, segment_types = [i32, i64, "
         << kFence << "]> : (i32, i64";
  for (size_t i = 0; i < last.size(); ++i)
    os << ", " << kFence;
  os << ") -> ^done (i32)\n";
  line() << "^done(%status: i32):\n";
  line() << "  vm.cond_br %status, ^failed, ^good\n";
  line() << "^good:\n";
  writeReturn();
  line() << "^failed:\n";
  line() << "  vm.fail %status, \"a layer failed\"\n";
}

void CallsFile::writeEntry() {
  func::FuncOp main = model.main;
  Block &block = main.front();
  line() << "vm.func private @" << main.getSymName() << '(';
  for (BlockArgument argument : block.getArguments()) {
    setName(argument, "%arg" + std::to_string(argument.getArgNumber()));
    os << (argument.getArgNumber() ? ", " : "") << nameOf(argument) << ": "
       << kBuffer;
  }
  os << ") -> " << several(block.getTerminator()->getNumOperands(), kBuffer)
     << " attributes {vm.unwind, vm.yield} {\n";
  line() << "  %none = vm.const.ref.zero : " << kFence << '\n';
  line() << "  %forever = vm.const.i32 -1\n";
  line() << "  %first = vm.const.i32.zero\n";
  line() << "  %flags = vm.const.i64.zero\n";
  line() << "  %device = vm.call @hal.devices.get(%first) {nosideeffects} : "
            "(i32) -> "
         << kDevice << '\n';
  for (auto call : block.getOps<func::CallOp>())
    writeCall(call, *layers.lookup(call));
  writeEnd();
  line() << '}';
  end(main.getLoc());
}

/// Exports the function with a declaration of its types, which IREE's tools
/// show.
void CallsFile::writeExport() {
  func::FuncOp main = model.main;
  auto list = [&](ValueRange values, StringRef kind) {
    std::string text;
    for (auto [index, value] : llvm::enumerate(values)) {
      auto type = cast<RankedTensorType>(value.getType());
      llvm::raw_string_ostream(text)
          << (index ? ", %" : "%") << kind << index << ": " << type;
    }
    return text;
  };
  line() << "vm.export @" << main.getSymName()
         << " attributes {iree.abi.stub, iree.reflection = "
            "{iree.abi.declaration = \"sync func @"
         << main.getSymName() << '('
         << list(main.front().getArguments(), "input") << ") -> ("
         << list(main.front().getTerminator()->getOperands(), "output")
         << ")\"}}\n";
}

LogicalResult CallsFile::write() {
  if (failed(checkTypes()))
    return failure();
  os << "vm.module public @main {\n";
  writeImports();
  writeSetter();
  writeEntry();
  writeExport();
  os << "}\n";
  return success();
}
