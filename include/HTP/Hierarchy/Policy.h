// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user decides about tags: rules for kinds of nodes (a policy) and
// modules of single nodes (overrides). docs/formats/policy.md describes both
// files.

#ifndef HTP_HIERARCHY_POLICY_H
#define HTP_HIERARCHY_POLICY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace htp {

/// One rule of a policy. Conditions that are left out always hold.
struct PolicyRule {
  enum class Assign { Producer, Consumer, Ancestor, Module };

  std::string name;
  std::vector<std::string> opTypes;  ///< the node's type is one of these
  std::string module;                ///< its tag is one of these modules
  std::vector<std::string> evidence; ///< its tag rests on one of these
  double below = 2.0;                ///< its tag's confidence is below this
  int64_t priority = 0;              ///< the highest one wins
  Assign assign = Assign::Ancestor;
  std::string target; ///< the module, for Assign::Module

  bool sameConditions(const PolicyRule &other) const;
  bool sameAssignment(const PolicyRule &other) const;
};

struct Policy {
  std::vector<PolicyRule> rules;

  /// Fails, naming the place in the file, on anything that the format does not
  /// define, and if two rules contradict each other.
  static llvm::Expected<Policy> parse(llvm::StringRef text);
  static llvm::Expected<Policy> load(llvm::StringRef path);
};

/// Modules that the user assigned to nodes: (node name, module), sorted by
/// name.
struct Overrides {
  std::vector<std::pair<std::string, std::string>> modules;

  static llvm::Expected<Overrides> parse(llvm::StringRef text);
  static llvm::Expected<Overrides> load(llvm::StringRef path);
};

} // namespace htp

#endif // HTP_HIERARCHY_POLICY_H
