// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's own patterns. They look at modules, dataflow and types but never at the
// name of an operator, so that they work in any dialect.

#include "ResolutionPatterns.h"

#include "../Evidence/Ground.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace htp;

static std::string quoted(const ConflictView &conflict, ModuleId module) {
  return "'" + conflict.getTree()[module].path + "'";
}

/// The two decisions: the node goes to `module`, or it stays in the module of
/// its tag.
static Decision goTo(ModuleId module, Ground ground, std::string reason) {
  return {module, evidenceOf(ground), worth(ground), std::move(reason)};
}
static Decision stay(const ConflictView &conflict, Ground ground,
                     std::string reason) {
  return {conflict.getCurrent().module, conflict.getCurrent().evidence,
          worth(ground), std::move(reason)};
}

/// Whether all of several candidates lie in `module` or below it.
static bool allWithin(const ConflictView &conflict, ArrayRef<Candidate> several,
                      ModuleId module) {
  return llvm::all_of(several, [&](const Candidate &one) {
    return conflict.getTree().isAncestorOrSelf(module, one.module);
  });
}

static SmallVector<Candidate> both(ArrayRef<Candidate> a,
                                   ArrayRef<Candidate> b) {
  SmallVector<Candidate> all(a);
  all.append(b.begin(), b.end());
  return all;
}

namespace {

/// A residual connection adds the input of a module to its result: `x + f(x)`.
/// The node lies within the smallest module that contains both `f` and another
/// reader of `x`. If its tag says otherwise, the node goes to that module, or
/// to one inside it that contains `f` and all readers of the node.
struct Residual : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    Operation *op = conflict.getOperation();
    if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
        op->getOperand(0).getType() != op->getOperand(1).getType())
      return std::nullopt;
    for (auto [x, made] : {std::pair(op->getOperand(0), op->getOperand(1)),
                           std::pair(op->getOperand(1), op->getOperand(0))})
      if (auto around = enclosing(conflict, x, made))
        return decide(conflict, *around, *conflict.producerOf(made));
    return std::nullopt;
  }

private:
  /// The deepest module that contains the producer of `made` and another reader
  /// of `x`.
  static std::optional<ModuleId> enclosing(const ConflictView &conflict,
                                           Value x, Value made) {
    const ModuleTree &tree = conflict.getTree();
    auto maker = conflict.producerOf(made);
    if (!maker || x == made)
      return std::nullopt;
    std::optional<ModuleId> deepest;
    for (const Candidate &reader :
         conflict.readersOf(x, conflict.getOperation())) {
      ModuleId around = tree.lowestCommonAncestor(reader.module, maker->module);
      if (!deepest || tree[around].depth > tree[*deepest].depth)
        deepest = around;
    }
    return deepest && *deepest != ModuleTree::root() ? deepest : std::nullopt;
  }

  static Decision decide(const ConflictView &conflict, ModuleId around,
                         const Candidate &maker) {
    const ModuleTree &tree = conflict.getTree();
    std::string reason = "residual connection of " + quoted(conflict, around);
    const Candidate &current = conflict.getCurrent();
    if (tree.isAncestorOrSelf(around, current.module))
      return stay(conflict, Ground::Residual, reason);
    if (!conflict.getConsumers().empty() &&
        allWithin(conflict, conflict.getConsumers(), around))
      around = tree.lowestCommonAncestor(
          conflict.common(conflict.getConsumers()), maker.module);
    return goTo(around, Ground::Residual, reason);
  }
};

/// All nodes around this one are of one module: the exporter inserted it there,
/// and it belongs to that module.
struct ExporterMade : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    if (conflict.getProducers().empty() || conflict.getConsumers().empty())
      return std::nullopt;
    ModuleId module = conflict.getProducers().front().module;
    auto same = [&](const Candidate &one) { return one.module == module; };
    if (!llvm::all_of(conflict.getProducers(), same) ||
        !llvm::all_of(conflict.getConsumers(), same))
      return std::nullopt;
    return goTo(module, Ground::ExporterMade,
                "lies between nodes of " + quoted(conflict, module));
  }
};

/// The node reads values of two branches (a decoder's queries, an encoder's
/// keys). It belongs to the branch that continues with its result.
struct CrossAttention : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    const ModuleTree &tree = conflict.getTree();
    ArrayRef<Candidate> producers = conflict.getProducers(),
                        consumers = conflict.getConsumers();
    if (producers.size() < 2 || consumers.empty())
      return std::nullopt;
    ModuleId split = conflict.common(both(producers, consumers));
    ModuleId after = conflict.common(consumers);
    if (after == split)
      return std::nullopt;
    ModuleId branch = tree.childTowards(split, after);
    // The producers in this branch tell where in the branch the node lies.
    SmallVector<Candidate> own(consumers);
    bool crosses = false;
    for (const Candidate &producer : producers) {
      bool inside = tree.isAncestorOrSelf(branch, producer.module);
      crosses |= !inside && !conflict.related(branch, producer.module);
      if (inside)
        own.push_back(producer);
    }
    if (!crosses || own.size() == consumers.size())
      return std::nullopt;
    if (tree.isAncestorOrSelf(branch, conflict.getCurrent().module))
      return stay(conflict, Ground::CrossAttention,
                  "goes on in " + quoted(conflict, branch));
    return goTo(conflict.common(own), Ground::CrossAttention,
                "reads values of several branches and goes on in " +
                    quoted(conflict, branch));
  }
};

/// One module made everything that the node reads, and no neighbour is of the
/// tag's module. The node goes to the module that made what it reads.
struct Provenance : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    ArrayRef<Candidate> producers = conflict.getProducers();
    if (producers.empty())
      return std::nullopt;
    ModuleId module = conflict.common(producers);
    bool same = llvm::all_of(producers, [&](const Candidate &producer) {
      return producer.module == module;
    });
    if (!same || conflict.related(module, conflict.getCurrent().module) ||
        !conflict.isDetached())
      return std::nullopt;
    return goTo(module, Ground::Provenance,
                "all that it reads was made by " + quoted(conflict, module));
  }
};

/// At least three modules claim the node. It goes to the one with more than
/// half of the confidence; if there is none, to their common ancestor.
struct SeveralContexts : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    llvm::MapVector<ModuleId, double> weights;
    double total = 0;
    for (const Candidate &one :
         both({conflict.getCurrent()}, conflict.getContexts())) {
      weights[one.module] += one.confidence;
      total += one.confidence;
    }
    if (weights.size() < 3 || total <= 0)
      return std::nullopt;
    auto best = llvm::max_element(weights, [](const auto &a, const auto &b) {
      return a.second < b.second;
    });
    std::string count = std::to_string(weights.size()) + " modules claim it";
    double share = best->second / total;
    if (share > 0.5) {
      std::string reason =
          count + ", most evidence is for " + quoted(conflict, best->first);
      return best->first == conflict.getCurrent().module
                 ? stay(conflict, Ground::SeveralContexts, reason)
                 : goTo(best->first, Ground::SeveralContexts, reason);
    }
    SmallVector<ModuleId> modules;
    for (const auto &[module, weight] : weights)
      modules.push_back(module);
    ModuleId ancestor = conflict.getTree().lowestCommonAncestor(modules);
    return Decision{ancestor, Evidence::Ancestor,
                    worth(Ground::SeveralContexts),
                    count + ", which " + quoted(conflict, ancestor) + " holds"};
  }
};

/// Several modules read the node, and the tag's module made nothing that the
/// node reads. The node goes to the common ancestor of its readers, never to
/// one of them.
struct CommonAncestor : ResolutionPattern {
  std::optional<Decision> match(const ConflictView &conflict) const override {
    const Candidate &current = conflict.getCurrent();
    ArrayRef<Candidate> consumers = conflict.getConsumers();
    ModuleId ancestor = conflict.common(consumers);
    bool outside =
        consumers.empty() || ancestor == current.module ||
        !conflict.getTree().isAncestorOrSelf(ancestor, current.module);
    bool made =
        llvm::any_of(conflict.getProducers(), [&](const Candidate &producer) {
          return conflict.related(producer.module, current.module) &&
                 producer.module != ModuleTree::root();
        });
    if (outside || made || consumers.size() < 2)
      return std::nullopt;
    return goTo(ancestor, Ground::CommonAncestor,
                "read by several modules of " + quoted(conflict, ancestor));
  }
};

} // namespace

void htp::addBuiltinPatterns(
    std::vector<std::pair<std::string, ResolutionPatternFactory>> &patterns) {
  auto add = [&](StringRef name, auto make) {
    patterns.push_back({name.str(), make});
  };
  add("residual", [] { return std::make_unique<Residual>(); });
  add("exporter-made", [] { return std::make_unique<ExporterMade>(); });
  add("cross-attention", [] { return std::make_unique<CrossAttention>(); });
  add("provenance", [] { return std::make_unique<Provenance>(); });
  add("several-contexts", [] { return std::make_unique<SeveralContexts>(); });
  add("common-ancestor", [] { return std::make_unique<CommonAncestor>(); });
}
