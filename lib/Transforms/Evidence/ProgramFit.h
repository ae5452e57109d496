// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures whether a trace or a reference belongs to the model at all.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_PROGRAMFIT_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_PROGRAMFIT_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/IR/BuiltinOps.h"

namespace htp {

/// How much of a program was found in a model, and vice versa.
struct ProgramFit {
  /// The number of parameters of the program, and of those that the model has,
  /// by name or by contents.
  size_t parameters = 0, parametersFound = 0;
  /// Tensors of the program and of the model that are large enough to be
  /// distinctive, and those of them that have a partner of the same size on the
  /// other side. Sizes survive rounding, quantization and the loss of all
  /// names.
  size_t tensors = 0, tensorsFound = 0, constants = 0, constantsFound = 0;
  /// Parameters that equal no other one of the program and have a partner of
  /// the same size and type in the model, and those of them with the same
  /// contents.
  size_t compared = 0, equal = 0;
  /// Weights of the model that were rounded, quantized or changed, and those of
  /// them that sketches recognised.
  size_t sketched = 0, recognised = 0;
  /// Batch norms of the program: exporters fold them into the op before, whose
  /// weight and bias then change. And the number of quantized tensors.
  size_t norms = 0, quantized = 0;
  /// Nodes of the model; those that names or notes place; and those that the
  /// program explains: a step emits such a node, and the steps of the node's
  /// neighbours are connected to it.
  size_t nodes = 0, named = 0, explained = 0;
  double logLikelihood = 0; ///< of all nodes

  void countSizes(const Program &program, const Graph &graph);
  void compareContents(const Program &program, const Graph &graph);
  void addSketch(const TensorContent &content, bool found);

  /// Mean log-likelihood of a node.
  double likelihood() const { return nodes ? logLikelihood / nodes : 0; }

  enum class Verdict { Fits, Doubtful, Other };
  Verdict verdict() const;

  /// Records the figures on the model's htp.hierarchy. Warns if the program may
  /// belong to another model; if it certainly does, fails with an error or,
  /// with `force`, warns.
  mlir::LogicalResult report(mlir::ModuleOp module, llvm::StringRef name,
                             Evidence evidence, bool force) const;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PROGRAMFIT_H
