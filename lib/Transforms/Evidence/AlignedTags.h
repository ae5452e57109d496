// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Aligns a model with a program (a trace, or the same model tagged before an
// optimizer ran) and writes the answers as tags.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/Alignment.h"
#include "HTP/Hierarchy/ModuleTree.h"
#include "ModelGraph.h"

namespace htp {

class AlignedTags {
public:
  /// The modules of the program's steps are those of `programTree`.
  AlignedTags(mlir::ModuleOp module, const Program &program,
              const ModuleTree &programTree);

  /// How messages call the program, and the evidence that tags name.
  void setSourceName(llvm::StringRef name) { source = name.str(); }
  void setEvidence(llvm::StringRef name) { evidence = name; }

  /// Fails, with an error, where the program is that of another model.
  mlir::LogicalResult run();

  unsigned numAligned = 0, numByParameter = 0;

private:
  void findSizes();
  void setPriors(ModelGraph &model);
  mlir::LogicalResult check(const ModelGraph &model, const Alignment &result);
  void write(const ModelGraph &model, const Alignment &result);
  void tag(mlir::Operation *op, const AlignedNode &node);
  void addCall(mlir::Operation *op, TagAttr tag, const AlignedNode &node);

  mlir::ModuleOp module;
  const Program &program;
  const ModuleTree &programTree;
  ModuleTree tree;
  std::string source = "the trace";
  llvm::StringRef evidence = "alignment";
  llvm::DenseSet<int64_t> sizes;
  std::vector<int32_t> parents;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H
