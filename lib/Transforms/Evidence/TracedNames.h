// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds values that still have the name of the traced value that they are.
// Graphs of the torch.export-based exporter keep such names ("linear_4"), but
// the exporter decomposes ops first and renumbers the values: a name alone may
// be that of another value of the same kind.
//
// A name therefore counts only if the dataflow agrees: everything that the node
// reads, back to names that both sides have, is also read by the traced op, and
// at least one of these is certain. The traced op must also be one that can
// leave such a node: if an exporter drops an op (a division by 1), the node
// before it takes over its name.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_TRACEDNAMES_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_TRACEDNAMES_H

#include "ParameterEvidence.h"

#include "HTP/Alignment/Emission.h"
#include "HTP/Trace/Trace.h"

#include "llvm/ADT/StringSet.h"

namespace htp {

class TracedNames {
public:
  TracedNames(mlir::ModuleOp module, const Trace &trace,
              const ParameterValues &parameters);

  /// The traced op that made the node's value, or null.
  const TraceOp *find(mlir::Operation *op) const { return certain.lookup(op); }

  /// The traced op whose output has this name, unchecked, or null.
  const TraceOp *named(llvm::StringRef name) const {
    return byName.lookup(name);
  }

private:
  /// What a node or traced op reads: "v:" and a name that both sides have, or
  /// "p:" and a parameter. Nothing if there is too much of it.
  using Reads = std::optional<llvm::SmallVector<llvm::StringRef, 4>>;

  const ParameterValues &parameters;
  llvm::StringMap<const TraceOp *> byName;
  llvm::DenseMap<TraceValueId, const TraceOp *> makers;
  llvm::StringSet<> graphNames, keys;
  llvm::DenseMap<const TraceOp *, Reads> traceReads;
  llvm::DenseMap<mlir::Operation *, Reads> nodeReads;
  llvm::DenseMap<mlir::Operation *, const TraceOp *> certain;
  /// A cache by traced kind.
  llvm::StringMap<EmissionRule> rules;

  llvm::StringRef key(llvm::StringRef prefix, llvm::StringRef text);
  const TraceOp *candidate(mlir::Operation *op) const;
  Reads readsOf(const TraceOp &op);
  Reads readsOf(mlir::Operation *op);
  bool mayLeave(const TraceOp &traced, mlir::Operation *op);
  void check(mlir::Operation *op, llvm::StringSet<> &certainKeys);
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_TRACEDNAMES_H
