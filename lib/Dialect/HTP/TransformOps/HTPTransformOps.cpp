// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// transform.htp.match_module and transform.htp.match.in_module: how they select
// ops, and what they report.

#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"
#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/ModuleSelection.h"

#include "mlir/Dialect/Transform/PDLExtension/PDLExtensionOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp;
using htp::transform::MatchInModuleOp;
using htp::transform::MatchModuleOp;

#define GET_OP_CLASSES
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.cpp.inc"

namespace {
/// Shares selections between matchers, which are evaluated op by op.
struct SelectionsData : mlir::transform::TransformDialectData<SelectionsData> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SelectionsData)
  explicit SelectionsData(MLIRContext *context)
      : TransformDialectData(context) {}
  mutable ModuleSelections selections; ///< a thread-safe cache
};

struct HTPExtension : mlir::transform::TransformDialectExtension<HTPExtension> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HTPExtension)
  void init() {
    declareDependentDialect<HTPDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.cpp.inc"
        >();
    addDialectDataInitializer<SelectionsData>([](SelectionsData &) {});
    addDialectDataInitializer<mlir::transform::PDLMatchHooks>(
        [](mlir::transform::PDLMatchHooks &hooks) {
          hooks.mergeInPDLMatchHooks(moduleConstraints());
        });
  }
};
} // namespace

void htp::registerTransformDialectExtension(DialectRegistry &registry) {
  registry.addExtensions<HTPExtension>();
}

template <typename OpT> static ModuleFilter filterOf(OpT op) {
  return {op.getPath().value_or(""), op.getClassName().value_or("")};
}

template <typename OpT> static LogicalResult verifyFilter(OpT op) {
  ModuleFilter filter = filterOf(op);
  if (filter.path.empty() && filter.className.empty())
    return op.emitOpError("names no module: expected 'path' or 'class'");
  return success();
}

//===----------------------------------------------------------------------===//
// MatchModuleOp
//===----------------------------------------------------------------------===//

LogicalResult MatchModuleOp::verify() { return verifyFilter(*this); }

/// Warns, once per function, if a function is shared by modules of which only
/// some match: it is matched as a whole or not at all.
static void warnOfSharedBodies(mlir::ModuleOp model,
                               const ModuleSelection &selection) {
  CallGraph calls(model);
  for (auto function : model.getOps<FunctionOpInterface>()) {
    auto module = function->getAttrOfType<StringAttr>(kModuleAttr);
    if (!module)
      continue;
    bool matched = selection.contains(module.getValue());
    for (Operation *call : calls.callers(function)) {
      if (!getTag(call) || selection.contains(call) == matched)
        continue;
      InFlightDiagnostic warning =
          mlir::emitWarning(function.getLoc(), "function '@")
          << function.getName() << "' is the body of '" << module.getValue()
          << "', which is " << (matched ? "" : "not ")
          << "matched, and of other modules: run --htp-outline=share=false to "
             "tell them apart";
      warning.attachNote(call->getLoc())
          << "'" << getAbsoluteTag(call).getPath() << "' is called here";
      break;
    }
  }
}

DiagnosedSilenceableFailure
MatchModuleOp::apply(mlir::transform::TransformRewriter &rewriter,
                     mlir::transform::TransformResults &results,
                     mlir::transform::TransformState &state) {
  llvm::StringSet<> wanted;
  if (std::optional<ArrayAttr> names = getOps())
    for (auto name : names->getAsRange<StringAttr>())
      wanted.insert(name);
  llvm::SetVector<Operation *> found;
  for (Operation *root : state.getPayloadOps(getRoot())) {
    HierarchyOp hierarchy = findHierarchyAround(root);
    if (!hierarchy) {
      auto error = emitDefiniteFailure(
          "the payload has no module tree (htp.hierarchy): run --htp-tag or "
          "--htp-attach-hierarchy first");
      error.attachNote(root->getLoc()) << "the payload is here";
      return error;
    }
    auto selection = ModuleSelection::create(hierarchy, filterOf(*this));
    if (!selection) {
      auto error = emitDefiniteFailure(toString(selection.takeError()));
      error.attachNote(hierarchy.getLoc()) << "the module tree is here";
      return error;
    }
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if ((wanted.empty() || wanted.contains(op->getName().getStringRef())) &&
          selection->contains(op))
        found.insert(op);
    });
    warnOfSharedBodies(cast<mlir::ModuleOp>(hierarchy->getParentOp()),
                       *selection);
  }
  results.set(cast<OpResult>(getMatched()), found.getArrayRef());
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// MatchInModuleOp
//===----------------------------------------------------------------------===//

LogicalResult MatchInModuleOp::verify() { return verifyFilter(*this); }

DiagnosedSilenceableFailure
MatchInModuleOp::matchOperation(Operation *current,
                                mlir::transform::TransformResults &,
                                mlir::transform::TransformState &) {
  HierarchyOp hierarchy = findHierarchyAround(current);
  if (!hierarchy)
    return emitDefiniteFailure(
        "the payload has no module tree (htp.hierarchy): run --htp-tag or "
        "--htp-attach-hierarchy first");
  auto *dialect =
      getContext()->getLoadedDialect<mlir::transform::TransformDialect>();
  auto selection = dialect->getExtraData<SelectionsData>().selections.get(
      hierarchy, filterOf(*this));
  if (!selection) {
    auto error = emitDefiniteFailure(toString(selection.takeError()));
    error.attachNote(hierarchy.getLoc()) << "the module tree is here";
    return error;
  }
  if (!(*selection)->contains(current))
    return emitSilenceableError() << "the op belongs to another module";
  return DiagnosedSilenceableFailure::success();
}
