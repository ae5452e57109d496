// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements what patterns can ask about a node (ConflictView), and the
// registry of patterns.

#include "HTP/Transforms/Resolution.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "ResolutionPatterns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace htp;

//===----------------------------------------------------------------------===//
// ConflictView
//===----------------------------------------------------------------------===//

ConflictView::ConflictView(Operation *op, const ModuleTree &tree)
    : op(op), tree(tree), current(*candidateOf(op)) {
  for (ContextAttr context : getTag(op).getContexts())
    contexts.push_back({tree.nearest(context.getPath()), 0,
                        context.getEvidence(), context.getConfidenceValue()});
  for (Value operand : op->getOperands())
    if (auto producer = producerOf(operand))
      producers.push_back(*producer);
  for (Value result : op->getResults())
    llvm::append_range(consumers, readersOf(result, /*except=*/nullptr));
}

std::optional<Candidate> ConflictView::candidateOf(Operation *node) const {
  TagAttr tag = node ? getTag(node) : TagAttr();
  if (!tag)
    return std::nullopt;
  return Candidate{tree.nearest(tag.getPath()), tag.getCall(),
                   tag.getEvidence(), tag.getConfidenceValue()};
}

std::optional<Candidate> ConflictView::producerOf(Value value) const {
  Operation *producer = value.getDefiningOp();
  // A constant was made for the node that reads it, so it says nothing about
  // that node's place.
  if (!producer || producer->getNumOperands() == 0)
    return std::nullopt;
  return candidateOf(producer);
}

SmallVector<Candidate> ConflictView::readersOf(Value value,
                                               Operation *except) const {
  SmallVector<Candidate> readers;
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      user = user->getParentOp();
    if (user == except)
      continue;
    if (auto reader = candidateOf(user))
      readers.push_back(*reader);
  }
  return readers;
}

bool ConflictView::related(ModuleId a, ModuleId b) const {
  return tree.isAncestorOrSelf(a, b) || tree.isAncestorOrSelf(b, a);
}

ModuleId ConflictView::common(ArrayRef<Candidate> several) const {
  SmallVector<ModuleId> modules;
  for (const Candidate &candidate : several)
    modules.push_back(candidate.module);
  return tree.lowestCommonAncestor(modules);
}

bool ConflictView::isDirect() const {
  switch (current.evidence) {
  case Evidence::Metadata:
  case Evidence::Name:
  case Evidence::ValueName:
  case Evidence::Parameter:
  case Evidence::Override:
  case Evidence::Executed:
    return true;
  case Evidence::None:
  case Evidence::Location:
  case Evidence::Alignment:
  case Evidence::Reference:
  case Evidence::Producer:
  case Evidence::Consumer:
  case Evidence::Ancestor:
    return false;
  }
  llvm_unreachable("all evidence is direct or not");
}

bool ConflictView::isDisputed(double threshold) const {
  return llvm::any_of(contexts, [&](const Candidate &other) {
    return other.confidence >= threshold &&
           !related(other.module, current.module);
  });
}

bool ConflictView::isDetached() const {
  auto elsewhere = [&](const Candidate &neighbour) {
    return !related(neighbour.module, current.module);
  };
  return !producers.empty() && !consumers.empty() &&
         llvm::all_of(producers, elsewhere) &&
         llvm::all_of(consumers, elsewhere);
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

namespace {
struct Registry {
  std::vector<std::pair<std::string, ResolutionPatternFactory>> patterns;

  static Registry &get() {
    static Registry registry = [] {
      Registry initial;
      addBuiltinPatterns(initial.patterns);
      return initial;
    }();
    return registry;
  }

  auto find(StringRef name) {
    return llvm::find_if(patterns,
                         [&](auto &entry) { return entry.first == name; });
  }
};
} // namespace

void htp::registerResolutionPattern(StringRef name,
                                    ResolutionPatternFactory factory) {
  Registry &registry = Registry::get();
  auto known = registry.find(name);
  if (known != registry.patterns.end())
    known->second = std::move(factory);
  else
    registry.patterns.push_back({name.str(), std::move(factory)});
}

std::unique_ptr<ResolutionPattern>
htp::createResolutionPattern(StringRef name) {
  Registry &registry = Registry::get();
  auto known = registry.find(name);
  return known == registry.patterns.end() ? nullptr : known->second();
}

std::vector<std::string> htp::getResolutionPatternNames() {
  std::vector<std::string> names;
  for (auto &[name, factory] : Registry::get().patterns)
    names.push_back(name);
  return names;
}
