// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures per module: parameters, bytes, activations, multiply-adds, and the
// confidence of tags. docs/Viewing.md defines each figure.

#ifndef HTP_TARGET_FIGURES_H
#define HTP_TARGET_FIGURES_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace htp {

/// The known costs of one operation; empty if unknown.
struct NodeCosts {
  std::optional<int64_t> multiplyAdds;
  std::optional<int64_t> activationBytes; ///< of its results
};

/// A few numbers by name, in order of first use. The names live as long as the
/// Figures that own them.
class NamedCounts {
public:
  int64_t &operator[](llvm::StringRef name) {
    for (auto &[known, count] : all)
      if (known == name)
        return count;
    return all.emplace_back(name, 0).second;
  }
  bool empty() const { return all.empty(); }
  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }

private:
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>, 1> all;
};

/// The costs of a module without and (total) with its submodules. Shared
/// parameters count once. Sums cover what is known; `unknown` counts the nodes
/// that are missing from them.
struct ModuleCosts {
  using Counts = NamedCounts;

  int64_t parameters = 0; ///< number of elements in PyTorch, buffers excluded
  int64_t totalParameters = 0;
  Counts weightBytes; ///< by element type, as the file stores them
  Counts totalWeightBytes;
  int64_t activationBytes = 0, totalActivationBytes = 0;
  int64_t multiplyAdds = 0, totalMultiplyAdds = 0;
  Counts unknown;
  std::optional<double> confidence, lowestConfidence; ///< submodules included
  /// Nodes with confidence below 0.9.
  int64_t unsure = 0;
  Counts evidence;
};

/// The costs of all modules, and of all nodes except constants.
class Figures {
public:
  explicit Figures(const TaggedGraph &graph);

  /// Writes the fields "costs" and "kind" of a module's object. Without
  /// `whole`, values that are 0, empty or unknown are left out.
  void writeModule(ModuleId id, bool whole, llvm::json::OStream &json) const;

  std::vector<ModuleCosts> modules;
  /// By module: modules with equal class, operations, parameters and submodules
  /// have the same number.
  std::vector<unsigned> kinds;
  std::vector<NodeCosts> nodes; ///< by NodeId
  /// What the sums do not cover, and why.
  std::vector<std::string> notes;

private:
  friend class FiguresBuilder;
  llvm::StringMap<char> names; ///< of element types
};

/// The types of a node's results, such as f32[1,16,128].
std::vector<std::string> typesOf(const TaggedGraph &graph,
                                 const TaggedGraph::Node &node);

/// Writes all figures as JSON. Format: docs/formats/op-figures.md.
llvm::LogicalResult writeFigures(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_FIGURES_H
