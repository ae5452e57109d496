// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-resolve-contamination: see Passes.td. The patterns are in
// ResolutionPatterns.cpp, policies and overrides in UserDecisions.cpp.

#include "DebugOutput.h"
#include "Evidence/Ground.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Transforms/Passes.h"
#include "HTP/Transforms/Resolution.h"
#include "Resolution/ParameterOwners.h"
#include "Resolution/UserDecisions.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>

#define DEBUG_TYPE "htp-resolve-contamination"

namespace htp {
#define GEN_PASS_DEF_HTPRESOLVECONTAMINATION
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

struct ResolveContamination
    : htp::impl::HTPResolveContaminationBase<ResolveContamination> {
  using Base::Base;
  void runOnOperation() override;

private:
  struct Named {
    std::string name;
    std::unique_ptr<ResolutionPattern> pattern;
  };

  LogicalResult findPatterns(SmallVectorImpl<Named> &chosen);
  void resolve(const ConflictView &view, ArrayRef<Named> chosen);
  void change(const ConflictView &view, const Decision &decision);
  void explain(const ConflictView &view, const Decision &decision);
  void doubtOthersParameters();

  bool changed = false;

  /// Emits a remark about a node, named after the pattern or rule that decided.
  template <typename Make>
  void remark(Make make, const ConflictView &view, StringRef name,
              const Decision &decision);
};

} // namespace

LogicalResult
ResolveContamination::findPatterns(SmallVectorImpl<Named> &chosen) {
  std::vector<std::string> known = getResolutionPatternNames();
  std::vector<std::string> names = known;
  if (!patterns.empty())
    names.assign(patterns.begin(), patterns.end());
  for (const std::string &name : names) {
    auto pattern = createResolutionPattern(name);
    if (!pattern)
      return getOperation().emitError("no resolution pattern is called '")
             << name << "', expected one of " << llvm::join(known, ", ");
    chosen.push_back({name, std::move(pattern)});
  }
  return success();
}

template <typename Make>
void ResolveContamination::remark(Make make, const ConflictView &view,
                                  StringRef name, const Decision &decision) {
  Operation *op = view.getOperation();
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto opts = remark::RemarkOpts::name(name)
                  .category("htp-resolve")
                  .function(function ? function.getName() : "");
  const ModuleTree &tree = view.getTree();
  make(op->getLoc(), opts)
      << decision.reason << remark::metric("node", getNodeName(op))
      << remark::metric("module", tree[decision.module].path)
      << remark::metric("confidence", decision.confidence)
      << remark::metric("was", tree[view.getCurrent().module].path)
      << remark::metric("wasEvidence",
                        stringifyEvidence(view.getCurrent().evidence))
      << remark::metric("wasConfidence", view.getCurrent().confidence);
}

/// The call of the module according to a neighbour or context; 0 if none is in
/// it.
static int64_t callIn(const ConflictView &view, ModuleId module) {
  for (ArrayRef<Candidate> list :
       {view.getProducers(), view.getConsumers(), view.getContexts()})
    for (const Candidate &one : list)
      if (one.module == module)
        return one.call;
  return 0;
}

/// Changes the node's module; the previous one becomes a context.
void ResolveContamination::change(const ConflictView &view,
                                  const Decision &decision) {
  assert(decision.module < view.getTree().size() &&
         "a pattern names a module of the tree");
  changed = true;
  Operation *op = view.getOperation();
  const ModuleTree &tree = view.getTree();
  const Candidate &current = view.getCurrent();
  SmallVector<ContextAttr> contexts;
  auto add = [&](const Candidate &other) {
    if (other.module != decision.module &&
        llvm::none_of(contexts, [&](ContextAttr context) {
          return context.getPath() == tree[other.module].path;
        }))
      contexts.push_back(ContextAttr::get(&getContext(),
                                          tree[other.module].path,
                                          other.evidence, other.confidence));
  };
  add(current);
  llvm::for_each(view.getContexts(), add);
  int64_t call = decision.module == current.module
                     ? current.call
                     : callIn(view, decision.module);
  setTag(op, TagAttr::get(&getContext(), tree[decision.module].path, call,
                          decision.evidence, decision.confidence,
                          decision.reason, contexts));
}

/// Keeps the tag and records the reason.
void ResolveContamination::explain(const ConflictView &view,
                                   const Decision &decision) {
  TagAttr tag = getTag(view.getOperation());
  if (!tag.getReason().empty())
    return;
  changed = true;
  setTag(view.getOperation(),
         TagAttr::get(&getContext(), tag.getPath(), tag.getCall(),
                      tag.getEvidence(), tag.getConfidenceValue(),
                      decision.reason, tag.getContexts()));
}

void ResolveContamination::resolve(const ConflictView &view,
                                   ArrayRef<Named> chosen) {
  const Candidate &current = view.getCurrent();
  LDBG() << DebugNode{view.getOperation()}
         << " is disputed: " << getTag(view.getOperation());
  if (view.isDirect()) {
    LDBG() << "  stands, as it rests on the node's own evidence";
    Decision stands{current.module, current.evidence, current.confidence,
                    "what the node says itself outweighs other claims"};
    remark(remark::analysis, view, "direct-evidence", stands);
    ++numKept;
    return;
  }
  std::optional<Decision> best;
  StringRef name;
  for (const Named &candidate : chosen) {
    std::optional<Decision> decision = candidate.pattern->match(view);
    if (!decision)
      continue;
    LDBG() << "  pattern '" << candidate.name << "': '"
           << view.getTree()[decision->module].path << "', confidence "
           << decision->confidence << ", " << decision->reason;
    if (!best || decision->confidence > best->confidence) {
      best = std::move(decision);
      name = candidate.name;
    }
  }
  if (!best) {
    LDBG() << "  stands, as no pattern matches";
    return;
  }
  LDBG() << "  "
         << (best->module == current.module          ? "confirmed by '"
             : best->confidence > current.confidence ? "changed by '"
                                                     : "stands against '")
         << name << "'";
  if (best->module == current.module) {
    remark(remark::analysis, view, name, *best);
    explain(view, *best);
    ++numKept;
  } else if (best->confidence > current.confidence) {
    remark(remark::passed, view, name, *best);
    recordGround(view.getOperation(), name);
    change(view, *best);
    ++numChanged;
  } else {
    remark(remark::missed, view, name, *best);
    ++numKept;
  }
}

/// Whether `op` copies a parameter to the name of an equal one, as exporters
/// store equal parameters once. Such a copy belongs to the module of the
/// latter.
static bool standsForAnother(Operation *op, const ModuleTree &tree) {
  return isCopy(op) && op->getNumResults() == 1 &&
         tree.findParameter(getValueName(op->getResult(0)));
}

/// Caps the confidence of nodes that read another module's parameters than the
/// one in their tag, whatever the evidence, unless a user decided.
void ResolveContamination::doubtOthersParameters() {
  // Tags with at least this confidence are considered certain.
  constexpr double kBeyondDoubt = 0.9;
  double worth =
      std::min(htp::worth(Ground::OthersParameters), kBeyondDoubt - 0.01);
  const ModuleTree &tree = getAnalysis<HierarchyAnalysis>().tree();
  ParameterOwners owners(getOperation(), tree);
  forEachRootedNode(getOperation(), [&](Operation *op) {
    TagAttr tag = getTag(op);
    if (!tag || tag.getConfidenceValue() <= worth ||
        tag.getEvidence() == Evidence::Override || op->hasAttr(kOrderAttr) ||
        standsForAnother(op, tree))
      return;
    std::optional<ModuleId> own = tree.find(tag.getPath());
    auto owner = own ? owners.contradicting(op, *own) : std::nullopt;
    if (!owner)
      return;
    SmallVector<ContextAttr> contexts(tag.getContexts());
    StringRef path = tree[*owner].path;
    if (llvm::none_of(contexts, [&](ContextAttr context) {
          return context.getPath() == path;
        }))
      contexts.push_back(ContextAttr::get(&getContext(), path,
                                          Evidence::Parameter, doubt(worth)));
    changed = true;
    LDBG() << DebugNode{op} << " reads parameters of '" << path
           << "', confidence " << tag.getConfidenceValue() << " becomes "
           << worth;
    recordGround(op, Ground::OthersParameters);
    setTag(op, TagAttr::get(tag.getPathAttr(), tag.getCall(), tag.getEvidence(),
                            worth, tag.getReason(), contexts));
  });
}

void ResolveContamination::runOnOperation() {
  mlir::ModuleOp module = getOperation();
  const ModuleTree &tree = getAnalysis<HierarchyAnalysis>().tree();
  markAnalysesPreserved<HierarchyAnalysis>();
  changed = false;
  SmallVector<Named> chosen;
  UserDecisions user(module, tree);
  if (failed(findPatterns(chosen)) ||
      (!policy.empty() && failed(user.loadPolicy(policy))) ||
      (!overrides.empty() && failed(user.loadOverrides(overrides))))
    return signalPassFailure();

  SmallVector<Operation *> nodes;
  forEachRootedNode(module, [&](Operation *op) {
    if (getTag(op))
      nodes.push_back(op);
  });
  // Users' decisions come first, as they are evidence for neighbours.
  SmallVector<Operation *> open;
  if (user.empty())
    open.swap(nodes);
  for (Operation *op : nodes) {
    ConflictView view(op, tree);
    FailureOr<std::optional<Decision>> decision = user.decide(view);
    if (failed(decision))
      return signalPassFailure();
    if (!*decision) {
      open.push_back(op);
      continue;
    }
    LDBG() << DebugNode{op}
           << " is the user's decision: " << (*decision)->reason;
    remark(remark::passed, view, "user", **decision);
    recordGround(op, "user");
    change(view, **decision);
    ++numByUser;
  }
  user.reportUnmatched();
  for (Operation *op : open) {
    // Fast path: most nodes are certain and undisputed.
    TagAttr tag = getTag(op);
    if (tag.getContexts().empty() && tag.getConfidenceValue() >= minConfidence)
      continue;
    ConflictView view(op, tree);
    bool detached = !view.isDirect() &&
                    view.getCurrent().confidence < minConfidence &&
                    view.isDetached();
    if (!detached && !view.isDisputed(1 - minConfidence))
      continue;
    ++numConflicts;
    resolve(view, chosen);
  }
  doubtOthersParameters();
  if (!changed)
    markAllAnalysesPreserved();
}
