// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts traced ops into the steps of a program: follows in-place updates,
// views and control flow, and joins parameters that exporters store as one.

#include "HTP/Trace/TraceProgram.h"

#include "HTP/Alignment/Emission.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

#include <limits>

using namespace htp;

static ElementKind elementKind(llvm::StringRef dtype) {
  if (dtype == "bool")
    return ElementKind::Bool;
  if (dtype.starts_with("int") || dtype.starts_with("uint"))
    return ElementKind::Integer;
  return dtype.contains("float") ? ElementKind::Float : ElementKind::Unknown;
}

/// The number in "float32" or "int8"; 0 if there is none.
static unsigned elementBits(llvm::StringRef dtype) {
  unsigned bits = 0;
  dtype.drop_while([](char c) { return c < '0' || c > '9'; })
      .getAsInteger(10, bits);
  return bits;
}

/// Ops that only forward a value; no exporter emits a node for them.
static bool isWire(llvm::StringRef kind) {
  return llvm::StringSwitch<bool>(kind)
      .Cases({"prim::NumToTensor", "aten::Int", "aten::ScalarImplicit"}, true)
      .Cases({"prim::ListConstruct", "prim::TupleConstruct"}, true)
      .Cases({"aten::IntImplicit", "aten::FloatImplicit"}, true)
      .Default(false);
}

/// Whether an op changes its first operand: "aten::copy_".
static bool isInPlace(llvm::StringRef kind) {
  kind = kind.substr(kind.rfind(':') + 1);
  kind = kind.take_until([](char c) { return c == '.'; });
  return kind.ends_with("_") && !kind.ends_with("__");
}

/// Whether an op returns a view of its first operand.
static bool isView(llvm::StringRef kind) {
  return llvm::StringSwitch<bool>(EmissionTable::get().canonical(kind))
      .Cases({"slice", "select", "narrow", "split", "chunk", "unbind"}, true)
      .Cases({"view", "flatten", "unflatten", "transpose", "expand"}, true)
      .Cases({"squeeze", "unsqueeze", "as_strided", "diagonal"}, true)
      .Cases({"detach", "alias"}, true)
      .Default(false);
}

/// Whether an op computes a symbolic size. torch.export hoists these to the
/// start of the graph, out of the modules that use them.
static bool isSymbolicSize(llvm::StringRef kind) {
  kind = kind.substr(kind.rfind(':') + 1);
  return kind.take_until([](char c) { return c == '.'; }) == "sym_size";
}

static uint64_t hashConstant(const llvm::json::Value &constant) {
  std::string text;
  llvm::raw_string_ostream(text) << constant;
  return llvm::xxh3_64bits(text);
}

namespace {

class Builder {
public:
  Builder(const Trace &trace, Program &program,
          std::deque<std::string> &strings)
      : trace(trace), program(program), strings(strings) {}

  void run();

private:
  int32_t define(const TraceValue &value);
  int32_t use(TraceValueId id);
  void addParameters();
  void addOps(llvm::ArrayRef<TraceOp> ops);
  void addOp(const TraceOp &op);
  void read(llvm::ArrayRef<TraceArgument> arguments, Program::Step &step);
  void follow(const TraceOp &op, const Program::Step &step);
  void join(Program::Step &step);
  void addJoined(Program::Step &step, std::initializer_list<int32_t> several);

  const Trace &trace;
  Program &program;
  std::deque<std::string> &strings;
  llvm::DenseMap<TraceValueId, int32_t> values;
  /// The value that each view was taken from.
  llvm::DenseMap<TraceValueId, TraceValueId> viewed;
  llvm::StringMap<int32_t> parameters;
};

} // namespace

int32_t Builder::use(TraceValueId id) {
  auto [found, isNew] = values.try_emplace(id, program.values.size());
  if (isNew)
    program.values.emplace_back();
  return found->second;
}

int32_t Builder::define(const TraceValue &value) {
  int32_t index = use(value.value);
  Program::Value &made = program.values[index];
  made.name = value.name;
  if (value.shape) {
    made.hasShape = true;
    made.shape.assign(value.shape->begin(), value.shape->end());
  }
  return index;
}

void Builder::addParameters() {
  for (const Module &module : trace.tree.all())
    for (const Parameter &parameter : module.parameters) {
      strings.push_back(joinPath(module.path, parameter.name));
      Program::Parameter added;
      added.path = strings.back();
      added.content.values = parameter.valuesHash;
      added.content.elements = 1;
      for (int64_t size : parameter.shape)
        added.content.elements *= size;
      added.content.shape.assign(parameter.shape.begin(),
                                 parameter.shape.end());
      added.content.kind = elementKind(parameter.dtype);
      added.content.bits = elementBits(parameter.dtype);
      added.sketched = !parameter.sketch.empty();
      parameters[added.path] = program.parameters.size();
      program.parameters.push_back(std::move(added));
    }
}

void Builder::read(llvm::ArrayRef<TraceArgument> arguments,
                   Program::Step &step) {
  forEachArgument(arguments, [&](const TraceArgument &argument) {
    switch (argument.kind) {
    case TraceArgument::Kind::Value:
      step.inputs.push_back(use(argument.value));
      break;
    case TraceArgument::Kind::Parameter:
      if (auto found = parameters.find(argument.parameter);
          found != parameters.end())
        step.parameters.push_back(found->second);
      break;
    case TraceArgument::Kind::Constant:
      step.constants =
          llvm::hash_combine(step.constants, hashConstant(argument.constant));
      break;
    case TraceArgument::Kind::List:
      break;
    }
  });
}

/// Adds a parameter for several that an exporter concatenates. Values
/// fingerprints are sums over the elements, so the fingerprints just add up.
void Builder::addJoined(Program::Step &step,
                        std::initializer_list<int32_t> several) {
  Program::Parameter joined;
  joined.joined = true;
  joined.content.kind = ElementKind::Float;
  for (int32_t parameter : several) {
    const TensorContent &content = program.parameters[parameter].content;
    if (!content.values || content.kind != ElementKind::Float)
      return;
    joined.content.values += content.values;
    joined.content.elements += content.elements;
  }
  step.parameters.push_back(program.parameters.size());
  program.parameters.push_back(std::move(joined));
}

/// Exporters merge corresponding parameters of a recurrent layer into one
/// tensor: both biases, those of both directions, or all four.
void Builder::join(Program::Step &step) {
  static constexpr size_t kLeast = 4, kMost = 64;
  llvm::SmallVector<int32_t, 2> own = step.parameters;
  if (own.size() < kLeast || own.size() > kMost)
    return;
  for (size_t i = 0; i < own.size(); ++i)
    for (size_t j = i + 1; j < own.size(); ++j) {
      addJoined(step, {own[i], own[j]});
      if (i + 1 < j && j + 1 < own.size())
        addJoined(step, {own[i], own[i + 1], own[j], own[j + 1]});
    }
}

void Builder::addOp(const TraceOp &op) {
  Program::Step step;
  step.kind = op.kind;
  step.module = op.module;
  step.call = std::min<int64_t>(op.call, std::numeric_limits<int32_t>::max());
  read(op.inputs, step);
  if (onlyHandsOn(op))
    step.parameters.clear();
  // A body can use outer values; its own results leave through the op.
  for (const TraceBlock &block : op.blocks) {
    for (const TraceValue &input : block.inputs)
      define(input);
    addOps(block.ops);
    read(block.outputs, step);
  }
  if (isWire(op.kind) && op.outputs.size() == 1 && step.inputs.size() == 1) {
    values[op.outputs[0].value] = step.inputs[0];
    return;
  }
  join(step);
  step.unplaced = op.module == ModuleTree::root() && isSymbolicSize(op.kind) &&
                  llvm::all_of(step.inputs, [&](int32_t input) {
                    return llvm::is_contained(program.inputs, input);
                  });
  for (const TraceValue &output : op.outputs)
    step.outputs.push_back(define(output));
  follow(op, step);
  program.steps.push_back(std::move(step));
}

/// After an in-place op, its first operand (and whatever that is a view of)
/// stands for the op's result: exporters functionalize in-place updates, and
/// later ops read the result.
void Builder::follow(const TraceOp &op, const Program::Step &step) {
  if (op.inputs.empty() || step.outputs.empty() ||
      op.inputs[0].kind != TraceArgument::Kind::Value)
    return;
  TraceValueId operand = op.inputs[0].value;
  if (isView(op.kind))
    for (const TraceValue &output : op.outputs)
      viewed[output.value] = operand;
  if (!isInPlace(op.kind))
    return;
  constexpr unsigned kDeepest = 64; // an invalid trace may contain cycles
  for (unsigned depth = 0; depth < kDeepest; ++depth) {
    values[operand] = step.outputs[0];
    auto base = viewed.find(operand);
    if (base == viewed.end())
      return;
    operand = base->second;
  }
}

void Builder::addOps(llvm::ArrayRef<TraceOp> ops) {
  for (const TraceOp &op : ops)
    addOp(op);
}

void Builder::run() {
  addParameters();
  for (const TraceValue &input : trace.inputs)
    program.inputs.push_back(define(input));
  addOps(trace.ops);
  forEachArgument(trace.outputs, [&](const TraceArgument &argument) {
    if (argument.kind == TraceArgument::Kind::Value)
      program.outputs.push_back(use(argument.value));
  });
}

TraceProgram::TraceProgram(const Trace &trace) : trace(trace) {
  Builder(trace, program, strings).run();
}
