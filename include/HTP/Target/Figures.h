// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What modules cost: parameters, bytes, activations, multiply-adds, and how
// sure their tags are. docs/Viewing.md says what each figure means.

#ifndef HTP_TARGET_FIGURES_H
#define HTP_TARGET_FIGURES_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace htp {

/// What is known of one operation.
struct NodeCosts {
  std::optional<int64_t> multiplyAdds;
  std::optional<int64_t> activationBytes; ///< of the values that it makes
};

/// A few numbers by name, in the order of the first of each. The names live as
/// long as the figures that they are of.
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

/// A module alone, and (total) with all modules below it. What several of them
/// share counts once. Sums are over what is known; `unknown` says how many
/// nodes below are not in them.
struct ModuleCosts {
  using Counts = NamedCounts;

  int64_t parameters = 0; ///< elements as PyTorch has them, without buffers
  int64_t totalParameters = 0;
  Counts weightBytes; ///< by element type, as the file stores them
  Counts totalWeightBytes;
  int64_t activationBytes = 0, totalActivationBytes = 0;
  int64_t multiplyAdds = 0, totalMultiplyAdds = 0;
  Counts unknown;
  std::optional<double> confidence, lowestConfidence; ///< of those below, too
  int64_t unsure = 0;                                 ///< of these, below 0.9
  Counts evidence;
};

/// The costs of all modules, and of all nodes that are no constants.
class Figures {
public:
  explicit Figures(const TaggedGraph &graph);

  /// The fields "costs" and "kind" of a module's object; what is 0, empty or
  /// not known is left out where the whole is not asked for.
  void writeModule(ModuleId id, bool whole, llvm::json::OStream &json) const;

  std::vector<ModuleCosts> modules;
  /// Of modules: the same for those of equal class, operations, parameters and
  /// parts.
  std::vector<unsigned> kinds;
  std::vector<NodeCosts> nodes; ///< by their number in the graph
  /// What is not in the sums, and why.
  std::vector<std::string> notes;

private:
  friend class FiguresBuilder;
  llvm::StringMap<char> names; ///< of element types
};

/// Of the values that a node makes, such as f32[1,16,128].
std::vector<std::string> typesOf(const TaggedGraph &graph,
                                 const TaggedGraph::Node &node);

/// Writes them all. Format: docs/formats/op-figures.md.
llvm::LogicalResult writeFigures(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_FIGURES_H
