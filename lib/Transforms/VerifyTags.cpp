// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-verify-tags: what must hold of a tagged model, and what its tags amount
// to.

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Target/ONNX/Tags.h"
#include "HTP/Transforms/Passes.h"
#include "HTP/Transforms/TagStatistics.h"

namespace htp {
#define GEN_PASS_DEF_HTPVERIFYTAGS
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

/// More of the same say nothing new.
static constexpr size_t kMaxReports = 20;

namespace {
/// Checks the tags of a model against its tree.
class TagVerifier {
public:
  TagVerifier(HierarchyOp hierarchy, const ModuleTree &tree,
              const TagNames &tags, bool strict)
      : hierarchy(hierarchy), strict(strict), tree(tree), tags(tags) {}

  /// Each is true where it holds; it has reported what does not. The tag is
  /// the absolute one.
  bool checkNode(Operation *op, TagAttr tag);
  bool checkParameter(Operation *op);

private:
  HierarchyOp hierarchy;
  bool strict;
  const ModuleTree &tree;
  const TagNames &tags;

  std::optional<ModuleId> find(Operation *op, StringRef path, StringRef what);
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

/// A note on what a tag rests on, for errors about it.
static InFlightDiagnostic explain(InFlightDiagnostic diagnostic, Operation *op,
                                  TagAttr tag) {
  diagnostic.attachNote(op->getLoc())
      << "the tag rests on evidence '" << tag.getEvidence() << "'"
      << (tag.getReason().empty() ? "" : ": ") << tag.getReason();
  return diagnostic;
}

/// The module at `path`; nothing, with an error, where there is none.
std::optional<ModuleId> TagVerifier::find(Operation *op, StringRef path,
                                          StringRef what) {
  if (std::optional<ModuleId> module = tree.find(path))
    return module;
  auto diagnostic = op->emitOpError(what) << " names the module '" << path
                                          << "', which is not in the tree";
  diagnostic.attachNote(hierarchy.getLoc())
      << "the nearest module of this tree is '" << tree[tree.nearest(path)].path
      << "'";
  return std::nullopt;
}

bool TagVerifier::checkCall(Operation *op, TagAttr tag, ModuleId module) {
  int64_t calls = tree[module].calls;
  // Code of a module may run without a call of forward().
  if (tag.getCall() >= 0 && tag.getCall() < std::max<int64_t>(calls, 1))
    return true;
  explain(op->emitOpError("is tagged with call ")
              << tag.getCall() << " of the module '" << tag.getPath()
              << "', expected a call below " << std::max<int64_t>(calls, 1),
          op, tag);
  return false;
}

bool TagVerifier::checkLocation(Operation *op) {
  TagAttr tag = getTag(op); // relative where the location is
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

/// A node in the body of another (of an If, a Loop, a Scan) is not in another
/// layer than that one.
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
      << outerTag.getEvidence() << "'";
  return !strict;
}

bool TagVerifier::checkNode(Operation *op, TagAttr tag) {
  if (!tag) {
    auto diagnostic = op->emitOpError("has no tag, expected one on every node");
    diagnostic.attachNote() << "--htp-propagate-aux-tags tags what has no "
                               "evidence of its own";
    return false;
  }
  std::optional<ModuleId> module = find(op, tag.getPath(), "tag");
  if (!module)
    return false;
  double confidence = tag.getConfidenceValue();
  if (!(confidence >= 0.0 && confidence <= 1.0)) {
    explain(op->emitOpError("has a confidence of ")
                << confidence << ", expected one between 0 and 1",
            op, tag);
    return false;
  }
  for (ContextAttr context : tag.getContexts())
    if (!find(op, context.getPath(), "a context of the tag"))
      return false;
  return checkCall(op, tag, *module) && checkLocation(op) &&
         checkOuter(op, tag, *module);
}

bool TagVerifier::checkParameter(Operation *op) {
  if (auto users = op->getAttrOfType<ArrayAttr>(kUsersAttr))
    for (auto user : users.getAsRange<StringAttr>())
      if (!find(op, user, "attribute 'htp.users'"))
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Checks and counts in one go: of a large model, to go through it is what
/// takes the time.
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
      broken += !verifier.checkNode(op, tag);
      counter.add(op, tag);
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
  if (failed(liftTags(module)))
    return signalPassFailure();
  HierarchyOp hierarchy = findHierarchy(module);
  if (!hierarchy) {
    module.emitError("has no htp.hierarchy, expected the tree that tags refer "
                     "to")
            .attachNote()
        << "--htp-attach-hierarchy writes it";
    return signalPassFailure();
  }
  const ModuleTree &tree = getAnalysis<HierarchyAnalysis>().tree;
  TagNames tags(tree);
  TagCounter counter(tree, tags);
  if (!check(hierarchy, TagVerifier(hierarchy, tree, tags, strict), counter))
    return signalPassFailure();
  announce(counter.statistics);
  markAllAnalysesPreserved();
}
