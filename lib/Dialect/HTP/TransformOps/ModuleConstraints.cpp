// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PDL constraints HTPInModule and HTPInModuleOfClass.

#include "HTP/Dialect/HTP/IR/ModuleSelection.h"
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp;

namespace {
/// State shared by the constraints of one set of patterns.
class Matching {
public:
  LogicalResult match(Operation *op, const ModuleFilter &filter) {
    HierarchyOp hierarchy = findHierarchyAround(op);
    if (!hierarchy)
      return warn(op->getLoc(),
                  "a pattern asks for a module, but there is no module tree "
                  "(htp.hierarchy): run --htp-tag or --htp-attach-hierarchy "
                  "first");
    auto selection = selections.get(hierarchy, filter);
    if (!selection)
      return warn(hierarchy.getLoc(),
                  "a pattern asks for a module that is not there: " +
                      toString(selection.takeError()));
    return success((*selection)->contains(op));
  }

private:
  /// Warns once per message: a constraint is evaluated for every op.
  LogicalResult warn(Location loc, const std::string &message) {
    std::lock_guard<std::mutex> lock(mutex);
    if (warned.insert(message).second)
      emitWarning(loc, message);
    return failure();
  }

  ModuleSelections selections;
  std::mutex mutex;
  llvm::StringSet<> warned;
};
} // namespace

/// Builds either constraint: both take an operation and a string.
static PDLConstraintFunction
makeConstraint(std::shared_ptr<Matching> matching,
               ModuleFilter (*filterOf)(StringRef)) {
  return [matching, filterOf](PatternRewriter &rewriter, PDLResultList &,
                              ArrayRef<PDLValue> values) -> LogicalResult {
    auto *op = values.size() == 2 ? values[0].dyn_cast<Operation *>() : nullptr;
    auto name =
        op ? dyn_cast_or_null<StringAttr>(values[1].dyn_cast<Attribute>())
           : StringAttr();
    if (!name || name.empty())
      return emitError(op ? op->getLoc() : rewriter.getUnknownLoc(),
                       "a constraint on modules takes an operation and a "
                       "string that names modules");
    return matching->match(op, filterOf(name));
  };
}

llvm::StringMap<PDLConstraintFunction> htp::moduleConstraints() {
  auto matching = std::make_shared<Matching>();
  llvm::StringMap<PDLConstraintFunction> constraints;
  constraints["HTPInModule"] = makeConstraint(
      matching, [](StringRef path) { return ModuleFilter{path, {}}; });
  constraints["HTPInModuleOfClass"] = makeConstraint(
      matching, [](StringRef name) { return ModuleFilter{{}, name}; });
  return constraints;
}

void htp::registerModuleConstraints(PDLPatternModule &patterns) {
  for (auto &constraint : moduleConstraints())
    patterns.registerConstraintFunction(constraint.getKey(),
                                        constraint.getValue());
}
