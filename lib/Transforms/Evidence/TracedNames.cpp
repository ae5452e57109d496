// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks value names against the trace by comparing what both sides read.

#include "TracedNames.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace htp {

/// A value that depends on more than this (perhaps on half of the model) is not
/// compared.
static constexpr size_t kMaxReads = 32;

TracedNames::TracedNames(mlir::ModuleOp module, const Trace &trace,
                         const ParameterValues &parameters)
    : parameters(parameters) {
  forEachOp(trace.ops, [&](const TraceOp &op) {
    for (const TraceValue &output : op.outputs) {
      makers[output.value] = &op;
      if (!output.name.empty())
        byName.try_emplace(output.name, &op);
    }
  });
  forEachNode(module, [&](Operation *op) {
    for (Value result : op->getResults())
      if (byName.contains(getValueName(result)))
        graphNames.insert(getValueName(result));
  });
  if (graphNames.empty())
    return;

  // Nodes come after what they read, and so do traced ops. Going in order,
  // every lookup finds what it needs.
  forEachOp(trace.ops,
            [&](const TraceOp &op) { traceReads[&op] = readsOf(op); });
  llvm::StringSet<> certainKeys;
  forEachNode(module, [&](Operation *op) {
    nodeReads[op] = readsOf(op);
    check(op, certainKeys);
  });
}

StringRef TracedNames::key(StringRef prefix, StringRef text) {
  return keys.insert((prefix + text).str()).first->getKey();
}

const TraceOp *TracedNames::candidate(Operation *op) const {
  for (Value result : op->getResults())
    if (const TraceOp *traced = byName.lookup(getValueName(result)))
      return traced;
  return nullptr;
}

/// Adds `more` to `reads`, or gives up.
static void append(std::optional<SmallVector<StringRef, 4>> &reads,
                   const std::optional<SmallVector<StringRef, 4>> &more) {
  if (!reads || !more) {
    reads = std::nullopt;
    return;
  }
  for (StringRef read : *more)
    if (!llvm::is_contained(*reads, read))
      reads->push_back(read);
  if (reads->size() > kMaxReads)
    reads = std::nullopt;
}

TracedNames::Reads TracedNames::readsOf(const TraceOp &op) {
  Reads reads = SmallVector<StringRef, 4>();
  forEachArgument(op.inputs, [&](const TraceArgument &argument) {
    if (argument.kind == TraceArgument::Kind::Parameter) {
      append(reads, SmallVector<StringRef, 4>{
                        key("p:", parameters.identity(argument.parameter))});
      return;
    }
    const TraceOp *maker = argument.kind == TraceArgument::Kind::Value
                               ? makers.lookup(argument.value)
                               : nullptr;
    if (!maker)
      return;
    for (const TraceValue &output : maker->outputs)
      if (output.value == argument.value && graphNames.contains(output.name)) {
        append(reads, SmallVector<StringRef, 4>{key("v:", output.name)});
        return;
      }
    append(reads, traceReads.lookup(maker));
  });
  return reads;
}

TracedNames::Reads TracedNames::readsOf(Operation *op) {
  Reads reads = SmallVector<StringRef, 4>();
  for (Value operand : op->getOperands()) {
    if (const ParameterValue *parameter = parameters.find(operand)) {
      append(reads, SmallVector<StringRef, 4>{
                        key("p:", parameters.identity(*parameter))});
      continue;
    }
    if (graphNames.contains(getValueName(operand)))
      append(reads,
             SmallVector<StringRef, 4>{key("v:", getValueName(operand))});
    else if (Operation *maker = operand.getDefiningOp())
      if (isNode(maker))
        append(reads, nodeReads.lookup(maker));
  }
  return reads;
}

/// Whether optimizers and quantizers make such nodes. These have the name of
/// the last node that they replace, whatever its operator was.
static bool maybeFused(Operation *op) {
  return isForeign(op) ||
         llvm::StringSwitch<bool>(getOpType(op))
             .Cases({"Conv", "ConvTranspose", "Gemm", "Gelu", "Sum"}, true)
             .Cases({"LayerNormalization", "RMSNormalization"}, true)
             // A node that a quantizer inserts after another takes over the
             // name of its value.
             .Cases({"QuantizeLinear", "DequantizeLinear"}, true)
             .Default(false);
}

/// Whether the traced op may have become a node like `op`.
bool TracedNames::mayLeave(const TraceOp &traced, Operation *op) {
  if (maybeFused(op))
    return true;
  auto [rule, isNew] = rules.try_emplace(traced.kind);
  if (isNew) {
    const EmissionTable &table = EmissionTable::get();
    rule->second = table.rule(table.canonical(traced.kind));
  }
  return rule->second.emits(getOpType(op)) != Emits::Nothing;
}

void TracedNames::check(Operation *op, llvm::StringSet<> &certainKeys) {
  const TraceOp *traced = candidate(op);
  if (!traced)
    return;
  const Reads &reads = nodeReads[op], &expected = traceReads[traced];
  if (!reads || !expected)
    return;
  auto isExpected = [&](StringRef read) {
    return llvm::is_contained(*expected, read);
  };
  auto isCertain = [&](StringRef read) {
    return read.starts_with("p:") || certainKeys.contains(read);
  };
  if (!llvm::all_of(*reads, isExpected) || !llvm::any_of(*reads, isCertain) ||
      !mayLeave(*traced, op))
    return;
  certain[op] = traced;
  for (Value result : op->getResults())
    if (graphNames.contains(getValueName(result)))
      certainKeys.insert(key("v:", getValueName(result)));
}

} // namespace htp
