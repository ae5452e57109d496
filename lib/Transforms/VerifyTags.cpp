// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-verify-tags: checks the invariants of a tagged model, and counts its
// tags.

#include "HTP/Analysis/TagStatistics.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Transforms/Passes.h"

namespace htp {
#define GEN_PASS_DEF_HTPVERIFYTAGS
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

/// The limit on errors reported; more of them are rarely useful.
static constexpr size_t kMaxReports = 20;

namespace {
/// Checks the tags of a model against its tree.
class TagVerifier {
public:
  TagVerifier(HierarchyOp hierarchy, HierarchyAnalysis &known,
              const TagNames &tags, bool strict)
      : hierarchy(hierarchy), strict(strict), tree(known.tree()),
        paths(known.paths()), tags(tags) {}

  /// Check a node with its absolute tag (returning its module if valid) or a
  /// parameter. Problems are reported.
  std::optional<ModuleId> checkNode(Operation *op, TagAttr tag);
  bool checkParameter(Operation *op);

private:
  HierarchyOp hierarchy;
  bool strict;
  const ModuleTree &tree;
  PathAttrs &paths;
  const TagNames &tags;

  void reportUnknown(Operation *op, StringRef path, StringRef what);
  bool checkKnown(Operation *op, StringRef path, StringRef what);
  bool checkCall(Operation *op, TagAttr tag, ModuleId module);
  bool checkLocation(Operation *op);
  bool checkOuter(Operation *op, TagAttr tag, ModuleId module);
};

struct VerifyTags : htp::impl::HTPVerifyTagsBase<VerifyTags> {
  using HTPVerifyTagsBase::HTPVerifyTagsBase;
  void runOnOperation() override;

private:
  bool check(HierarchyOp hierarchy, TagVerifier verifier, TagCounter &counter);
  void announce(const TagStatistics &statistics);
};
} // namespace

//===----------------------------------------------------------------------===//
// TagVerifier
//===----------------------------------------------------------------------===//

/// Adds a note with the evidence for a tag.
static InFlightDiagnostic explain(InFlightDiagnostic diagnostic, Operation *op,
                                  TagAttr tag) {
  diagnostic.attachNote(op->getLoc())
      << "the tag rests on evidence '" << stringifyEvidence(tag.getEvidence())
      << "'" << (tag.getReason().empty() ? "" : ": ") << tag.getReason();
  return diagnostic;
}

void TagVerifier::reportUnknown(Operation *op, StringRef path, StringRef what) {
  auto diagnostic = op->emitOpError(what) << " names the module '" << path
                                          << "', which is not in the tree";
  diagnostic.attachNote(hierarchy.getLoc())
      << "the nearest module of this tree is '" << tree[tree.nearest(path)].path
      << "'";
}

bool TagVerifier::checkKnown(Operation *op, StringRef path, StringRef what) {
  if (tree.contains(path))
    return true;
  reportUnknown(op, path, what);
  return false;
}

bool TagVerifier::checkCall(Operation *op, TagAttr tag, ModuleId module) {
  int64_t calls = tree[module].calls;
  // A module's code may run even if forward() was never called.
  if (tag.getCall() >= 0 && tag.getCall() < std::max<int64_t>(calls, 1))
    return true;
  explain(op->emitOpError("is tagged with call ")
              << tag.getCall() << " of the module '" << tag.getPath()
              << "', expected a call below " << std::max<int64_t>(calls, 1),
          op, tag);
  return false;
}

bool TagVerifier::checkLocation(Operation *op) {
  TagAttr tag = getTag(op); // relative, like the location
  std::optional<Scope> scope = findScope(op->getLoc());
  if (!scope || (scope->path == tag.getPath() && scope->call == tag.getCall()))
    return true;
  explain(op->emitOpError("is tagged with the module '")
              << tag.getPath() << "' (call " << tag.getCall()
              << "), but its location names '" << scope->path << "' (call "
              << scope->call << ")",
          op, tag);
  return false;
}

/// Checks that a node in the body of another (If, Loop, Scan) is not in a
/// different layer.
bool TagVerifier::checkOuter(Operation *op, TagAttr tag, ModuleId module) {
  Operation *outer = op->getParentOp();
  TagAttr outerTag = isNode(outer) ? getAbsoluteTag(outer) : TagAttr();
  auto outerModule = outerTag ? tree.find(outerTag.getPath()) : std::nullopt;
  if (!outerModule)
    return true;
  StringRef inside = tags[module], around = tags[*outerModule];
  if (!inOtherLayer(inside, around))
    return true;
  auto diagnostic = strict ? op->emitOpError() : op->emitWarning();
  diagnostic << "is tagged " << inside << " inside of an op of another layer";
  diagnostic.attachNote(outer->getLoc())
      << "the op around it is tagged " << around << " by evidence '"
      << stringifyEvidence(outerTag.getEvidence()) << "'";
  return !strict;
}

std::optional<ModuleId> TagVerifier::checkNode(Operation *op, TagAttr tag) {
  if (!tag) {
    auto diagnostic = op->emitOpError("has no tag, expected one on every node");
    diagnostic.attachNote() << "--htp-propagate-aux-tags tags what has no "
                               "evidence of its own";
    return std::nullopt;
  }
  std::optional<ModuleId> module = paths.find(tag.getPathAttr());
  if (!module) {
    reportUnknown(op, tag.getPath(), "tag");
    return std::nullopt;
  }
  double confidence = tag.getConfidenceValue();
  if (!(confidence >= 0.0 && confidence <= 1.0)) {
    explain(op->emitOpError("has a confidence of ")
                << confidence << ", expected one between 0 and 1",
            op, tag);
    return std::nullopt;
  }
  for (ContextAttr context : tag.getContexts())
    if (!checkKnown(op, context.getPath(), "a context of the tag"))
      return std::nullopt;
  bool holds = checkCall(op, tag, *module) && checkLocation(op) &&
               checkOuter(op, tag, *module);
  return holds ? module : std::nullopt;
}

bool TagVerifier::checkParameter(Operation *op) {
  if (auto users = op->getAttrOfType<ArrayAttr>(kUsersAttr))
    for (auto user : users.getAsRange<StringAttr>())
      if (!checkKnown(op, user, "attribute 'htp.users'"))
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Checks and counts in a single walk, as walking a large model dominates the
/// cost.
bool VerifyTags::check(HierarchyOp hierarchy, TagVerifier verifier,
                       TagCounter &counter) {
  size_t broken = 0;
  getOperation()->walk([&](Operation *op) {
    if (broken >= kMaxReports)
      return WalkResult::interrupt();
    if (isInitializer(op)) {
      broken += !verifier.checkParameter(op);
    } else if (needsTag(op)) {
      TagAttr tag = getAbsoluteTag(op);
      std::optional<ModuleId> module = verifier.checkNode(op, tag);
      broken += !module;
      counter.add(op, tag, module);
    }
    return WalkResult::advance();
  });
  if (broken >= kMaxReports)
    hierarchy.emitRemark("more ops may break the rules; the first ")
        << kMaxReports << " are reported";
  return broken == 0;
}

void VerifyTags::announce(const TagStatistics &statistics) {
  numNodes += statistics.nodes;
  numTagged += statistics.tagged;
  numContaminated += statistics.contaminated.size();
  for (const Contamination &found :
       ArrayRef(statistics.contaminated).take_front(kMaxReports)) {
    TagAttr tag = getAbsoluteTag(found.op);
    explain(found.op->emitWarning("is contaminated: tagged with '")
                << tag.getPath() << "', but its name '" << found.source
                << "' places it in '" << found.named << "'",
            found.op, tag);
  }
  if (report)
    emitRemark(getOperation().getLoc()) << statistics.summary();
}

void VerifyTags::runOnOperation() {
  mlir::ModuleOp module = getOperation();
  FailureOr<HierarchyOp> found = requireHierarchy(module);
  if (failed(found))
    return signalPassFailure();
  HierarchyOp hierarchy = *found;
  auto &known = getAnalysis<HierarchyAnalysis>();
  TagNames tags(known.tree());
  TagCounter counter(known.tree(), tags);
  if (!check(hierarchy, TagVerifier(hierarchy, known, tags, strict), counter))
    return signalPassFailure();
  announce(counter.statistics);
  markAllAnalysesPreserved();
}
