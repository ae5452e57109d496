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
  /// The steps of the program refer to modules of `programTree`; the tags refer
  /// to modules of `hierarchy`. All arguments must outlive this.
  AlignedTags(mlir::ModuleOp module, const Program &program,
              const ModuleTree &programTree, HierarchyAnalysis &hierarchy);

  /// The name of the program in messages, and the evidence in tags.
  void setSourceName(llvm::StringRef name) { source = name.str(); }
  void setEvidence(Evidence kind) { evidence = kind; }

  /// `make` returns the sketches that recognise weights which equal no
  /// parameter exactly. It is called only if there are such weights. Its
  /// parameters must have the numbers that they have in the program.
  void setSketches(std::function<SketchMatches *()> make) {
    sketches = std::move(make);
  }

  /// Proceed even if the program belongs to another model.
  void setForce(bool on) { force = on; }
  /// How many parameters the program has and how many of them are in the model,
  /// as far as that was found out by other means than the alignment.
  void setParameters(size_t known, size_t found);

  /// The node whose place is explained in a remark, by its name or that of one
  /// of its values.
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
  AlignedNode atItsName(mlir::Operation *op, AlignedNode node) const;
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
  bool sameTree = true; ///< modules have the same numbers in both trees
  std::string source = "the trace";
  Evidence evidence = Evidence::Alignment;
  llvm::DenseSet<int64_t> sizes;
  std::function<SketchMatches *()> sketches;
  /// For each module of the program: its place in the program's tree, and its
  /// path in the model's tree.
  std::vector<ModulePlace> places;
  std::vector<mlir::StringAttr> paths;
  /// For each name of a value of the program, its step; empty if names may be
  /// those of other values.
  llvm::StringMap<int32_t> stepsByName;
  TagWriter tags;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_ALIGNEDTAGS_H
