// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Hierarchy/TraceProgram.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace htp;

static ElementKind elementKind(llvm::StringRef dtype) {
  if (dtype == "bool")
    return ElementKind::Bool;
  if (dtype.starts_with("int") || dtype.starts_with("uint"))
    return ElementKind::Integer;
  return dtype.contains("float") ? ElementKind::Float : ElementKind::Unknown;
}

/// What only passes a value on: no exporter makes a node of it.
static bool isWire(llvm::StringRef kind) {
  return llvm::StringSwitch<bool>(kind)
      .Cases({"prim::NumToTensor", "aten::Int", "aten::ScalarImplicit"}, true)
      .Cases({"prim::ListConstruct", "prim::TupleConstruct"}, true)
      .Cases({"aten::IntImplicit", "aten::FloatImplicit"}, true)
      .Default(false);
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

  const Trace &trace;
  Program &program;
  std::deque<std::string> &strings;
  llvm::DenseMap<TraceValueId, int32_t> values;
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

void Builder::addOp(const TraceOp &op) {
  Program::Step step;
  step.kind = op.kind;
  step.module = op.module;
  step.call = op.call;
  read(op.inputs, step);
  // A body sees the values around it; what it makes goes on through the op.
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
  for (const TraceValue &output : op.outputs)
    step.outputs.push_back(define(output));
  program.steps.push_back(std::move(step));
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

TraceProgram::TraceProgram(const Trace &trace) {
  Builder(trace, program, strings).run();
}
