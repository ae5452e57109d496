// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Aligns a model with a program (a trace, or the same model tagged before an
// optimizer ran) and writes the answers as tags.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "ModelGraph.h"
#include "ProgramFit.h"
#include "SketchMatches.h"
#include "TagWriter.h"

#include <functional>

namespace htp {

class AlignedTags {
public:
  /// The modules of the program's steps are those of `programTree`, those of
  /// the tags of `hierarchy`. All must outlive this.
  AlignedTags(mlir::ModuleOp module, const Program &program,
              const ModuleTree &programTree, HierarchyAnalysis &hierarchy);

  /// The name of the program in messages, and the evidence in tags.
  void setSourceName(llvm::StringRef name) { source = name.str(); }
  void setEvidence(Evidence kind) { evidence = kind; }

  /// Recognises weights that equal no parameter. Asked for only where there are
  /// such weights; parameters are numbered as those of the program.
  void setSketches(std::function<SketchMatches *()> make) {
    sketches = std::move(make);
  }

  /// Proceed even if the program belongs to another model.
  void setForce(bool on) { force = on; }
  /// What is known of the parameters besides their contents: how many of the
  /// program's are in the model.
  void setParameters(size_t known, size_t found);

  /// The node, by its name or that of one of its values, whose place is
  /// explained in a remark.
  void setExplained(llvm::StringRef name) { explained = name.str(); }

  /// Overrides parameters of the alignment.
  void setNumbers(AlignmentParameters numbers) { options.parameters = numbers; }

  /// Fails, with an error, if the program belongs to another model.
  mlir::LogicalResult run();

  unsigned numAligned = 0, numByParameter = 0;

private:
  void findSizes();
  void recognise(ModelGraph &model);
  void placePacked(const ModelGraph &model, Alignment &result) const;
  void setPriors(ModelGraph &model);
  void measure(const ModelGraph &model, const Alignment &result);
  AlignmentOptions optionsFor(const ModelGraph &model) const;
  void explain(const ModelGraph &model, const Alignment &result) const;
  void write(const ModelGraph &model, const Alignment &result);
  void write(mlir::Operation *op, const AlignedNode &node);
  bool confirms(const AlignedNode &node, TagAttr tag) const;
  void tag(mlir::Operation *op, const AlignedNode &node);
  void addAbsorbed(mlir::Operation *op, const AlignedNode &node);
  void addCall(mlir::Operation *op, TagAttr tag, const AlignedNode &node);

  mlir::ModuleOp module;
  const Program &program;
  const ModuleTree &programTree;
  HierarchyAnalysis &hierarchy;
  ProgramFit fit;
  bool force = false, fits = true, ownOrder = true;
  std::string explained;
  AlignmentOptions options;
  bool sameTree = true; ///< each module has one number in both
  std::string source = "the trace";
  Evidence evidence = Evidence::Alignment;
  llvm::DenseSet<int64_t> sizes;
  std::function<SketchMatches *()> sketches;
  /// Of the program's modules: where they are in their own tree, and what they
  /// are called in the model's.
  std::vector<ModulePlace> places;
  std::vector<mlir::StringAttr> paths;
  TagWriter tags;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H
