// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-outline: each call of each module becomes a function and a call.
//
//   %0 = "d.mul"(%x, %w) {htp.tag = #htp.tag<"layer.0">}
//   %1 = "d.relu"(%0) {htp.tag = #htp.tag<"layer.0">}
// becomes
//   %1 = call @Layer(%x, %w) {htp.tag = #htp.tag<"layer.0">}
//
// This file selects the modules to outline, lib/Partition decides where to cut,
// OutlineBuilder makes functions of the parts, and SinkConstants moves
// constants into these.

#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/ModulePattern.h"
#include "HTP/Support/Parallel.h"
#include "HTP/Transforms/Passes.h"
#include "Outlining/ModuleCalls.h"
#include "Outlining/OutlineBuilder.h"
#include "Outlining/SinkConstants.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#include <cassert>

#define DEBUG_TYPE "htp-outline"

namespace htp {
#define GEN_PASS_DEF_HTPOUTLINE
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

namespace {

/// Maps the ops of a block to groups: one for each call of a selected module.
class CallGroups {
public:
  CallGroups(const ModuleTree &tree, const std::vector<bool> &selected,
             unsigned maxDepth, ArrayRef<ModuleCall> opCalls)
      : tree(tree), selected(selected), maxDepth(maxDepth),
        numbers(tree, opCalls), calls{ModuleCall()},
        ofFirstCalls(tree.size(), kUnknown) {
    assert(selected.size() == tree.size() && "one flag for each module");
    ofOps.reserve(opCalls.size());
    for (ModuleCall call : opCalls)
      ofOps.push_back(groupOf(call));
  }

  GroupTree groups;
  std::vector<unsigned> ofOps; ///< by op

  ArrayRef<ModuleCall> getCalls() const { return calls; }

private:
  static constexpr unsigned kUnknown = ~0u;

  /// The table entry for the group of `call`. Nearly every module is called
  /// once, and for first calls a vector is more cache-friendly than a map.
  unsigned &known(ModuleCall call) {
    if (call.call == 0)
      return ofFirstCalls[call.module];
    return ofOtherCalls.try_emplace({call.module, call.call}, kUnknown)
        .first->second;
  }

  /// The group of the innermost selected module around `call`.
  unsigned groupOf(ModuleCall call) {
    // Walk up to a module with a known group or to the root, then down again.
    SmallVector<ModuleCall> below;
    unsigned group = 0;
    while (call.module != ModuleTree::root()) {
      if (unsigned found = known(call); found != kUnknown) {
        group = found;
        break;
      }
      below.push_back(call);
      ModuleId parent = tree[call.module].parent;
      call = {parent, numbers.callOf(parent, call)};
    }
    for (ModuleCall inner : llvm::reverse(below)) {
      if (selected[inner.module] &&
          (!maxDepth || groups.depth[group] < maxDepth)) {
        group = groups.add(group, kindOf(tree[inner.module]));
        calls.push_back(inner);
      }
      known(inner) = group;
    }
    return group;
  }

  /// Modules of one class have the same kind.
  unsigned kindOf(const htp::Module &module) {
    StringRef name =
        module.qualified.empty() ? module.className : module.qualified;
    return kinds.try_emplace(name, kinds.size() + 1).first->second;
  }

  const ModuleTree &tree;
  const std::vector<bool> &selected;
  const unsigned maxDepth;
  llvm::StringMap<unsigned> kinds;
  CallNumbers numbers;
  std::vector<ModuleCall> calls;      ///< by group
  std::vector<unsigned> ofFirstCalls; ///< groups, by module
  llvm::DenseMap<std::pair<ModuleId, int64_t>, unsigned> ofOtherCalls;
};

/// A block with its groups and the partition to cut it into.
struct BlockCuts {
  explicit BlockCuts(Block &block) : tagged(block) {}

  TaggedBlock tagged;
  std::optional<CallGroups> grouped;
  Partition cut;
};

struct Outline : htp::impl::HTPOutlineBase<Outline> {
  using HTPOutlineBase::HTPOutlineBase;

  void runOnOperation() override {
    if (failed(requireHierarchy(getOperation())))
      return signalPassFailure();
    auto &hierarchy = getAnalysis<HierarchyAnalysis>();
    const ModuleTree &tree = hierarchy.tree();
    PathAttrs &paths = hierarchy.paths();
    considered = split = 0;
    FailureOr<std::vector<bool>> selected = selectModules(tree);
    if (failed(checkNotOutlined()) ||
        failed(CallGraph(getOperation()).checkRecursion()) || failed(selected))
      return signalPassFailure();

    std::vector<BlockCuts> blocks;
    for (FunctionOpInterface function : functionsToOutline())
      blocks.emplace_back(function.getFunctionBody().front());
    bool readable = true;
    together(
        [&] {
          for (BlockCuts &block : blocks)
            block.tagged.readDataflow(tree);
        },
        [&] {
          for (BlockCuts &block : blocks) {
            readable = readable && succeeded(block.tagged.readTags(paths));
            block.grouped.emplace(tree, *selected, maxDepth,
                                  block.tagged.calls);
          }
        });
    if (!readable)
      return signalPassFailure();
    OutlineBuilder outliner(getOperation(), tree, paths, form, share);
    for (BlockCuts &block : blocks)
      if (failed(outline(block, tree, outliner)))
        return signalPassFailure();
    numSunk += sinkConstants(getOperation(), outliner.functions(), tree,
                             maxConstantBytes);
    numFunctions += outliner.numFunctions;
    numCalls += outliner.numCalls;
    numSaved += outliner.numSaved;
    if (summary)
      emitRemark(getOperation().getLoc(), "outlined ")
          << considered << " calls of modules: " << outliner.numFunctions
          << " functions, " << outliner.numCalls << " calls, "
          << outliner.numSaved << " ops saved by sharing, " << split
          << " modules split";
  }

private:
  LogicalResult checkNotOutlined();
  FailureOr<std::vector<bool>> selectModules(const ModuleTree &tree);
  LogicalResult checkClasses(const ModuleTree &tree);
  SmallVector<FunctionOpInterface> functionsToOutline();
  LogicalResult outline(BlockCuts &block, const ModuleTree &tree,
                        OutlineBuilder &outliner);
  void explainSplits(const BlockCuts &block, const ModuleTree &tree);

  size_t considered = 0, split = 0; ///< numbers of module calls
};

} // namespace

/// Fails if the model is outlined already: tags in outlined functions are
/// relative, and outlining again would mix them up.
LogicalResult Outline::checkNotOutlined() {
  for (auto function : getOperation().getOps<FunctionOpInterface>())
    if (function->hasAttr(kModuleAttr))
      return function.emitError(
          "is an outlined module already: run --htp-inline first");
  return success();
}

/// Fails if a class named by the user does not exist.
LogicalResult Outline::checkClasses(const ModuleTree &tree) {
  for (StringRef wanted : classes) {
    llvm::Expected<std::vector<ModuleId>> found =
        findModulesOfClass(tree, wanted);
    if (!found)
      return emitError(getOperation().getLoc(),
                       llvm::toString(found.takeError()));
  }
  return success();
}

/// Selects the modules that become functions. A module that torch.nn defines or
/// that never ran is selected only if the user names it.
FailureOr<std::vector<bool>> Outline::selectModules(const ModuleTree &tree) {
  if (failed(checkClasses(tree)))
    return failure();
  std::vector<bool> matches(tree.size(), modules.empty());
  std::vector<bool> named(tree.size(), false);
  for (StringRef pattern : modules) {
    llvm::Expected<std::vector<ModuleId>> found = findModules(tree, pattern);
    if (!found)
      return emitError(getOperation().getLoc(),
                       llvm::toString(found.takeError()));
    for (ModuleId id : *found) {
      matches[id] = true;
      named[id] = named[id] || !isModulePattern(pattern);
    }
  }
  for (ModuleId id : tree.ids()) {
    const htp::Module &module = tree[id];
    bool ofClass = llvm::is_contained(classes, module.className) ||
                   llvm::is_contained(classes, module.qualified);
    bool usual = (torchNN || !module.torchNN) && module.calls > 0;
    matches[id] = matches[id] && (classes.empty() || ofClass) &&
                  (usual || ofClass || named[id]);
  }
  matches[ModuleTree::root()] = false; // the function itself
  for (ModuleId id : tree.ids())
    if (matches[id])
      LDBG(2) << "selected module '" << tree[id].path << "'";
  return matches;
}

/// The functions with a body that were not made by outlining. If only some of
/// them have tags, only these.
SmallVector<FunctionOpInterface> Outline::functionsToOutline() {
  auto hasTag = [](FunctionOpInterface function) {
    return llvm::any_of(function.getFunctionBody().front(), [](Operation &op) {
      return getTag(&op) || !findScopes(op.getLoc()).empty();
    });
  };
  SmallVector<FunctionOpInterface> all, withTags;
  for (auto function : getOperation().getOps<FunctionOpInterface>()) {
    if (function.isExternal() || function->hasAttr(kModuleAttr) ||
        !function.getFunctionBody().hasOneBlock())
      continue;
    all.push_back(function);
    if (hasTag(function))
      withTags.push_back(function);
  }
  return withTags.empty() ? all : withTags;
}

LogicalResult Outline::outline(BlockCuts &block, const ModuleTree &tree,
                               OutlineBuilder &outliner) {
  assert(block.grouped && "tags are read before cutting");
  CallGroups &grouped = *block.grouped;
  block.cut = partition(block.tagged.graph, grouped.groups,
                        std::move(grouped.ofOps), minOps);
  const Partition &cut = block.cut;
  const size_t numCalled = grouped.getCalls().size() - 1;
  LDBG() << block.tagged.ops.size() << " ops, " << numCalled
         << " module calls: " << cut.parts.size() - 1 << " parts, "
         << cut.pulled << " ops pulled inside, " << cut.hoisted
         << " moved outside, " << cut.splits.size() << " modules split";
  LDBG_OS(2, [&](raw_ostream &os) {
    os << "parts (module call: ops, nested ones included):";
    for (const Part &part : ArrayRef(cut.parts).drop_front()) {
      ModuleCall call = grouped.getCalls()[part.group];
      os << "\n  " << callName(tree[call.module].path, call.call) << ": "
         << part.members.size();
    }
  });
  considered += numCalled;
  split += cut.splits.size();
  numModules += numCalled;
  numPulled += cut.pulled;
  numHoisted += cut.hoisted;
  numSplit += cut.splits.size();
  explainSplits(block, tree);
  return outliner.build(block.tagged, cut.parts, grouped.getCalls());
}

/// How messages refer to an op: by its name in the model, or by its kind.
static std::string describe(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("onnx_node_name");
      name && !name.empty())
    return ("'" + name.getValue() + "'").str();
  return ("a " + op->getName().getStringRef()).str();
}

void Outline::explainSplits(const BlockCuts &block, const ModuleTree &tree) {
  const TaggedBlock &tagged = block.tagged;
  auto moduleOf = [&](unsigned op) {
    StringRef path = tree[tagged.calls[op].module].path;
    return path.empty() ? std::string("the model itself")
                        : ("module '" + path + "'").str();
  };
  for (const Split &split : block.cut.splits) {
    ModuleCall call = block.grouped->getCalls()[split.group];
    assert(split.through < tagged.ops.size() &&
           split.returns < tagged.ops.size() && "not an op of this block");
    Operation *through = tagged.ops[split.through];
    Operation *returns = tagged.ops[split.returns];
    InFlightDiagnostic remark = returns->emitRemark("module '")
                                << callName(tree[call.module].path, call.call)
                                << "' becomes " << split.parts
                                << " parts, because its dataflow ";
    if (split.leaves)
      remark << "leaves it after " << describe(tagged.ops[*split.leaves])
             << ", goes through " << describe(through) << " of "
             << moduleOf(split.through) << ", and comes back at "
             << describe(returns);
    else
      remark << "and that of " << moduleOf(split.through)
             << " need each other: " << describe(returns) << " reads "
             << describe(through);
    remark.attachNote(through->getLoc()) << "outside of the module here";
  }
}
