// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which traced kind of operator (aten::linear) an exporter turns into which
// ONNX operators (MatMul, Add). The table itself is data: EmissionTable.inc.

#ifndef HTP_ALIGNMENT_EMISSION_H
#define HTP_ALIGNMENT_EMISSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace htp {

/// How an ONNX operator can come from a traced kind.
enum class Emits : uint8_t {
  /// It does not, as far as the table knows.
  Nothing,
  /// It is the main op that the kind is exported as.
  Main,
  /// It is one of the other ops of the kind's decomposition.
  Part,
  /// It belongs to the size arithmetic around the kind.
  Sizes,
  /// The same for a kind that also computes positions: any integer arithmetic
  /// counts.
  Indices,
  /// It is a reshape that an optimizer added around a matrix product.
  Wrap,
  /// The table does not know the kind: it may emit anything.
  Perhaps,
};

/// What the table says about one traced kind.
struct EmissionRule {
  std::string kind;
  llvm::StringMap<Emits> ops;
  /// There may be several main ops.
  bool many = false;
  /// The parts replace the main op: they count only if there is no main op.
  bool instead = false;
  /// Emits size arithmetic.
  bool sizes = false;
  /// Usually leaves no node behind.
  bool silent = false;
  /// Often folded away by an exporter.
  bool cheap = false;
  /// The table does not list it.
  bool unknown = false;

  /// Whether the exporter may emit several nodes for one op of this kind.
  bool emitsSeveral() const;
  Emits emits(llvm::StringRef op) const;
};

/// The float operator that a quantized operator stands for, derived from its
/// name: MatMul for MatMulInteger, MatMulNBits and DynamicQuantizeMatMul, Conv
/// for QLinearConv, Gather for GatherBlockQuantized. Other operators stand for
/// themselves.
llvm::StringRef plainOperator(llvm::StringRef op);

/// The rules of every kind, aliases resolved.
class EmissionTable {
public:
  static const EmissionTable &get();

  /// The canonical name of a traced kind: "aten::add_" is "add".
  std::string canonical(llvm::StringRef kind) const;

  /// The rule for a canonical kind. A kind that the table does not list may
  /// emit any op, most likely that of the same name (relu, Relu).
  EmissionRule rule(llvm::StringRef canonicalKind) const;

  /// The ops that a fused op replaces; the last one produces the node's value.
  /// Empty for an op that is not fused.
  llvm::ArrayRef<std::string> fusedFrom(llvm::StringRef op) const;

private:
  EmissionTable();

  llvm::StringMap<EmissionRule> rules;
  llvm::StringMap<std::string> aliases;
  llvm::StringMap<std::vector<std::string>> fused;
};

} // namespace htp

#endif // HTP_ALIGNMENT_EMISSION_H
