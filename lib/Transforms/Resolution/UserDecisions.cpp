// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads policies and overrides, and matches them with nodes.

#include "UserDecisions.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Hierarchy/ModulePattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace htp;

LogicalResult UserDecisions::loadPolicy(StringRef path) {
  llvm::Expected<Policy> policy = Policy::load(path);
  if (!policy)
    return module.emitError("policy ") << llvm::toString(policy.takeError());
  for (PolicyRule &given : policy->rules) {
    Rule rule;
    auto find = [&](StringRef text) -> FailureOr<std::vector<ModuleId>> {
      auto found = findModules(tree, text);
      if (found)
        return *found;
      module.emitError("policy '")
          << path << "', rule '" << given.name
          << "': " << llvm::toString(found.takeError());
      return failure();
    };
    if (!given.module.empty()) {
      auto found = find(given.module);
      if (failed(found))
        return failure();
      rule.modules.assign(tree.size(), false);
      for (ModuleId id : *found)
        rule.modules[id] = true;
    }
    if (given.assign == PolicyRule::Assign::Module) {
      auto found = find(given.target);
      if (failed(found))
        return failure();
      if (found->size() != 1)
        return module.emitError("policy '")
               << path << "', rule '" << given.name << "': '" << given.target
               << "' names " << found->size() << " modules, expected one";
      rule.target = found->front();
    }
    rule.rule = std::move(given);
    rules.push_back(std::move(rule));
  }
  return success();
}

LogicalResult UserDecisions::loadOverrides(StringRef path) {
  llvm::Expected<Overrides> given = Overrides::load(path);
  if (!given)
    return module.emitError("overrides ") << llvm::toString(given.takeError());
  unsigned unknown = 0;
  std::string first;
  for (const auto &[node, target] : given->modules) {
    auto found = findModules(tree, target);
    if (found && found->size() == 1) {
      overrides[node] = {found->front()};
      continue;
    }
    std::string message = found ? "'" + target + "' names several modules"
                                : llvm::toString(found.takeError());
    if (unknown++ == 0)
      first = "node '" + node + "': " + message;
  }
  forEachRootedNode(module,
                    [&](Operation *op) { nodeNames.insert(getNodeName(op)); });
  if (unknown == 0)
    return success();
  return module.emitError("overrides '")
         << path << "': " << unknown << " of " << given->modules.size()
         << " name no module of the tree, the first is " << first;
}

bool UserDecisions::matches(const Rule &rule, const ConflictView &view) {
  auto among = [](ArrayRef<std::string> list, StringRef text) {
    return list.empty() || llvm::is_contained(list, text);
  };
  const Candidate &current = view.getCurrent();
  return among(rule.rule.opTypes, getOpType(view.getOperation())) &&
         among(rule.rule.evidence, stringifyEvidence(current.evidence)) &&
         current.confidence < rule.rule.below &&
         (rule.modules.empty() || rule.modules[current.module]);
}

std::optional<ModuleId>
UserDecisions::targetOf(const Rule &rule, const ConflictView &view) const {
  ArrayRef<Candidate> neighbours;
  switch (rule.rule.assign) {
  case PolicyRule::Assign::Module:
    return rule.target;
  case PolicyRule::Assign::Producer:
    neighbours = view.getProducers();
    break;
  case PolicyRule::Assign::Consumer:
    neighbours = view.getConsumers();
    break;
  case PolicyRule::Assign::Ancestor: {
    SmallVector<Candidate> all(view.getProducers());
    all.append(view.getConsumers().begin(), view.getConsumers().end());
    all.push_back(view.getCurrent());
    return view.common(all);
  }
  }
  if (neighbours.empty())
    return std::nullopt;
  return view.common(neighbours);
}

/// The override for a node: by its name, or by the name of one of its values,
/// because nodes need not have names. Names of nodes take precedence, because
/// one node's name may be that of another node's value.
UserDecisions::Override *UserDecisions::overrideOf(Operation *op) {
  auto find = [&](StringRef name) -> Override * {
    auto given = overrides.find(name);
    return given == overrides.end() || name.empty() ? nullptr : &given->second;
  };
  if (Override *given = find(getNodeName(op)))
    return given;
  for (Value result : op->getResults())
    if (Override *given = find(getValueName(result));
        given && !nodeNames.contains(getValueName(result)))
      return given;
  return nullptr;
}

FailureOr<std::optional<Decision>>
UserDecisions::decide(const ConflictView &view) {
  Operation *op = view.getOperation();
  if (Override *given = overrideOf(op)) {
    given->matched = true;
    return std::optional(Decision{given->target, Evidence::Override, 1.0,
                                  "given by name in the overrides"});
  }
  const Rule *winner = nullptr;
  std::optional<ModuleId> target;
  for (Rule &rule : rules) {
    if (!matches(rule, view))
      continue;
    ++rule.matches;
    std::optional<ModuleId> wanted = targetOf(rule, view);
    if (!wanted || (winner && rule.rule.priority < winner->rule.priority))
      continue;
    if (winner && rule.rule.priority == winner->rule.priority &&
        *wanted != *target) {
      op->emitError("rules '")
          << winner->rule.name << "' and '" << rule.rule.name
          << "' of the policy contradict each other: '" << tree[*target].path
          << "' or '" << tree[*wanted].path << "'";
      return failure();
    }
    winner = &rule;
    target = wanted;
  }
  if (!winner)
    return std::optional<Decision>();
  return std::optional(
      Decision{*target, Evidence::Override, 1.0,
               "rule '" + winner->rule.name + "' of the policy"});
}

void UserDecisions::reportUnmatched() {
  for (const Rule &rule : rules)
    if (rule.matches == 0)
      module.emitWarning("rule '")
          << rule.rule.name << "' of the policy matches no node";
  SmallVector<StringRef> unknown;
  for (const auto &entry : overrides)
    if (!entry.second.matched)
      unknown.push_back(entry.first());
  if (unknown.empty())
    return;
  llvm::sort(unknown);
  module.emitWarning() << unknown.size() << " of " << overrides.size()
                       << " overrides name no node of the model and no value "
                          "that one makes, the first is '"
                       << unknown.front() << "'";
}
