// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies what a user decided (policies and overrides) to the nodes of a model.

#ifndef HTP_LIB_TRANSFORMS_RESOLUTION_USERDECISIONS_H
#define HTP_LIB_TRANSFORMS_RESOLUTION_USERDECISIONS_H

#include "HTP/Hierarchy/Policy.h"
#include "HTP/Transforms/Resolution.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace htp {

class UserDecisions {
public:
  UserDecisions(mlir::ModuleOp module, const ModuleTree &tree)
      : module(module), tree(tree) {}

  /// Load a file; errors are reported on the module.
  mlir::LogicalResult loadPolicy(llvm::StringRef path);
  mlir::LogicalResult loadOverrides(llvm::StringRef path);

  /// Whether there are no rules and no overrides.
  bool empty() const { return rules.empty() && overrides.empty(); }

  /// The user's decision about a node, if any. Fails, with an error, if two
  /// rules contradict each other.
  llvm::FailureOr<std::optional<Decision>> decide(const ConflictView &view);

  /// Warns about rules and overrides that matched nothing.
  void reportUnmatched();

private:
  struct Rule {
    PolicyRule rule;
    llvm::SmallVector<bool> modules; ///< those it applies to; empty: all
    ModuleId target = 0;
    unsigned matches = 0;
  };
  struct Override {
    ModuleId target;
    bool matched = false;
  };

  static bool matches(const Rule &rule, const ConflictView &view);
  std::optional<ModuleId> targetOf(const Rule &rule,
                                   const ConflictView &view) const;

  mlir::ModuleOp module;
  const ModuleTree &tree;
  std::vector<Rule> rules;
  /// By the name of a node, or of one of its values.
  llvm::StringMap<Override> overrides;
  llvm::StringSet<> nodeNames; ///< empty without overrides

  Override *overrideOf(mlir::Operation *op);
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_RESOLUTION_USERDECISIONS_H
