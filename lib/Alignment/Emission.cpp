// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads EmissionTable.inc, looks kinds up in it, and has rules for names that
// it does not list.

#include "HTP/Alignment/Emission.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace htp;
using llvm::StringRef;

/// The prefix of kinds if the program is itself a graph.
static constexpr llvm::StringLiteral kGraphOp = "onnx::";

static llvm::SmallVector<StringRef> words(StringRef text) {
  llvm::SmallVector<StringRef> found;
  text.split(found, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return found;
}

bool EmissionRule::emitsSeveral() const {
  return many || sizes || unknown || llvm::any_of(ops, [](const auto &entry) {
           return entry.second == Emits::Part;
         });
}

StringRef htp::plainOperator(StringRef op) {
  StringRef plain = op;
  // The result may be converted back to floats: MatMulIntegerToFloat.
  plain.consume_back("ToFloat");
  bool quantized =
      plain.consume_back("Integer") || plain.consume_back("NBits") ||
      plain.consume_back("BlockQuantized") || plain.consume_front("QLinear") ||
      plain.consume_front("DynamicQuantize");
  // Strips the Q of QGemm and QAttention, but not of QuickGelu.
  if (!quantized && plain.size() > 1 && llvm::isUpper(plain[1]))
    quantized = plain.consume_front("Q");
  return quantized && !plain.empty() ? plain : op;
}

/// Whether the ONNX op is named like the kind: LogSoftmax for log_softmax.
static bool sameName(StringRef kind, StringRef op) {
  std::string squeezed;
  for (char c : kind)
    if (c != '_')
      squeezed.push_back(c);
  return StringRef(squeezed).equals_insensitive(op);
}

Emits EmissionRule::emits(StringRef op) const {
  if (ops.empty())
    return sameName(kind, op) ? Emits::Main
           : unknown          ? Emits::Perhaps
                              : Emits::Nothing;
  auto found = ops.find(op);
  return found == ops.end() ? Emits::Nothing : found->second;
}

EmissionTable::EmissionTable() {
  llvm::SmallVector<StringRef> sizes;
#define HTP_SIZES(ops) sizes = words(ops);
#include "EmissionTable.inc"

  auto add = [&](StringRef kinds, StringRef main, StringRef parts) {
    for (StringRef kind : words(kinds)) {
      EmissionRule rule;
      rule.kind = kind.rtrim("*!").str();
      rule.many = kind.ends_with("*");
      rule.instead = kind.ends_with("!");
      for (StringRef op : words(main))
        rule.ops[op] = Emits::Main;
      for (StringRef op : words(parts)) {
        if (!op.starts_with("@")) {
          rule.ops.try_emplace(op, Emits::Part);
          continue;
        }
        rule.sizes = true;
        for (StringRef size : sizes)
          rule.ops.try_emplace(size,
                               op == "@SIZES" ? Emits::Sizes : Emits::Indices);
      }
      // A matrix product may be wrapped in reshapes by an optimizer.
      if (rule.emits("Gemm") == Emits::Main)
        rule.ops["GemmReshape"] = Emits::Wrap;
      std::string name = rule.kind;
      rules[name] = std::move(rule);
    }
  };
#define HTP_EMISSION(kinds, main, parts) add(kinds, main, parts);
#include "EmissionTable.inc"

#define HTP_ALIAS(kind, names)                                                 \
  for (StringRef name : words(names))                                          \
    aliases[name] = kind;
#include "EmissionTable.inc"

#define HTP_FUSED(op, replaced)                                                \
  for (StringRef part : words(replaced))                                       \
    fused[op].push_back(part.str());
#include "EmissionTable.inc"

  auto rewrite = [&](StringRef ops, StringRef main, StringRef parts) {
    for (StringRef op : words(ops)) {
      std::string kind = kGraphOp.str() + op.str();
      add(kind, main, parts);
      rules[StringRef(kind).rtrim('*')].ops[op.rtrim('*')] = Emits::Main;
    }
  };
#define HTP_REWRITE(ops, main, parts) rewrite(ops, main, parts);
#include "EmissionTable.inc"

  auto mark = [&](StringRef kinds, bool EmissionRule::*flag) {
    for (StringRef kind : words(kinds)) {
      EmissionRule &rule = rules[kind];
      rule.kind = kind.str();
      rule.*flag = true;
    }
  };
#define HTP_SAME_NAME(kinds)                                                   \
  for (StringRef kind : words(kinds))                                          \
    rules[kind].kind = kind.str();
#include "EmissionTable.inc"
#define HTP_SILENT(kinds) mark(kinds, &EmissionRule::silent);
#include "EmissionTable.inc"
#define HTP_CHEAP(kinds) mark(kinds, &EmissionRule::cheap);
#include "EmissionTable.inc"
}

const EmissionTable &EmissionTable::get() {
  static const EmissionTable table;
  return table;
}

std::string EmissionTable::canonical(StringRef kind) const {
  if (kind.starts_with(kGraphOp))
    return kind.str();
  StringRef name = kind.substr(kind.rfind(':') + 1); // aten::add.Tensor
  name = name.take_until([](char c) { return c == '.'; });
  auto resolve = [&](StringRef spelled) -> StringRef {
    auto found = aliases.find(spelled);
    return found == aliases.end() ? spelled : StringRef(found->second);
  };
  name = resolve(name);
  if (!name.starts_with("_")) // add_ is add, in place
    name = name.rtrim('_');
  return resolve(name).str();
}

EmissionRule EmissionTable::rule(StringRef canonicalKind) const {
  if (auto found = rules.find(canonicalKind); found != rules.end())
    return found->second;
  EmissionRule rule;
  rule.kind = canonicalKind.str();
  if (canonicalKind.consume_front(kGraphOp))
    rule.ops[canonicalKind] = Emits::Main;
  else
    rule.unknown = true;
  return rule;
}

llvm::ArrayRef<std::string> EmissionTable::fusedFrom(StringRef op) const {
  auto found = fused.find(op);
  if (found == fused.end())
    return {};
  return found->second;
}
