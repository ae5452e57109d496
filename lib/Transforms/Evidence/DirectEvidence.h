// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evidence on the node itself for the module that it came from: the exporter's
// metadata, scopes in names, parameters that it reads.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_DIRECTEVIDENCE_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_DIRECTEVIDENCE_H

#include "Claim.h"
#include "ExecutedValues.h"
#include "ParameterEvidence.h"
#include "TagWriter.h"
#include "TracedNames.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"

namespace htp {

/// Collects metadata, names and parameters (1 to 3 in Passes.td) as evidence
/// for every node of a model.
class DirectEvidence {
public:
  /// `trace`, `sketches` (of the parameters of `tree`) and `executed` may be
  /// null.
  DirectEvidence(mlir::ModuleOp module, const ModuleTree &tree,
                 const Trace *trace, SketchMatches *sketches = nullptr,
                 const ExecutedValues *executed = nullptr);

  /// All claims on `op`, strongest first.
  llvm::SmallVector<Claim, 3> claims(mlir::Operation *op) const;

  /// The tag for the strongest claim, with modules of the others as contexts;
  /// null without claims.
  TagAttr tag(mlir::Operation *op, PathAttrs &paths, TagWriter &tags) const;

  /// The tag of an earlier run, or one for what was executed if that is worth
  /// more.
  TagAttr revised(mlir::Operation *op, TagAttr before, PathAttrs &paths,
                  TagWriter &tags) const;

  /// The line of Python code that `op` came from, if known.
  llvm::SmallVector<mlir::Location, 1> sources(mlir::Operation *op) const;

  const ParameterValues &getParameters() const { return parameters; }

private:
  const ModuleTree &tree;
  const Trace *trace;
  ScopeResolver scopes;
  ParameterValues parameters;
  const ExecutedValues *executed;
  std::optional<TracedNames> traced;
  /// For modules that run several times: the nodes of one type that read the
  /// same parameter, in order.
  llvm::StringMap<llvm::SmallVector<mlir::Operation *, 2>> repeatedReaders;
  llvm::BitVector noted; ///< modules that the notes of any node name
  /// The number of nodes whose notes and parameters agree, and of those whose
  /// do not. If notes are often wrong, all notes of the file count less.
  size_t notesRight = 0, notesWrong = 0;

  std::optional<Claim> fromNotes(mlir::Operation *op) const;
  std::optional<Claim> fromNodeName(mlir::Operation *op) const;
  std::optional<Claim> fromValueNames(mlir::Operation *op) const;
  std::optional<Claim> fromTracedNames(mlir::Operation *op) const;
  std::optional<Claim> fromParameters(mlir::Operation *op) const;
  const TraceOp *tracedOp(mlir::Operation *op) const;
  std::string readerKey(mlir::Operation *op,
                        const ParameterValue &parameter) const;
  void indexRepeatedReaders(mlir::ModuleOp module);
  void countNotes(mlir::ModuleOp module);
  bool notesAreReliable() const;
  bool agree(mlir::Operation *op, const Claim &notes,
             const Claim &parameter) const;
  std::optional<Claim> fromAbsorbingWeight(mlir::Operation *op,
                                           const Claim &notes) const;
  bool contradict(mlir::Operation *op, std::optional<Claim> &notes,
                  std::optional<Claim> &parameter) const;
  int64_t callOf(mlir::Operation *op, const ParameterValue &parameter,
                 ModuleId module) const;
};

/// Whether an optimizer may have made `op` out of several nodes. An operator on
/// quantized tensors is not fused: it does what its float operator does.
bool mayBeFused(mlir::Operation *op);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_DIRECTEVIDENCE_H
