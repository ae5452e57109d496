// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the flattened view: expands calls into frames, names nodes, and
// resolves values across calls.

#include "HTP/Target/TaggedGraph.h"

#include "HTP/Analysis/CallGraph.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cassert>

using namespace mlir;
using namespace htp;

using Frame = TaggedGraph::Frame;
using NodeId = TaggedGraph::NodeId;
using ValueRef = TaggedGraph::ValueRef;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string htp::validUTF8(StringRef text) {
  std::string valid;
  while (!text.empty()) {
    size_t bad = 0;
    if (llvm::json::isUTF8(text, &bad))
      return valid + text.str();
    valid += text.take_front(bad);
    valid += "\\x" + llvm::utohexstr(uint8_t(text[bad]), /*LowerCase=*/false,
                                     /*Width=*/2);
    text = text.drop_front(bad + 1);
  }
  return valid;
}

std::string TaggedGraph::valueName(ValueRef ref) const {
  ref = resolve(ref);
  StringRef given = getValueName(ref.value);
  // An omitted input or output. A value of unknown type has type `none`, too,
  // but is not absent.
  Operation *producer = ref.value.getDefiningOp();
  if (isa<NoneType>(ref.value.getType()) &&
      ((producer && isAbsentValue(producer)) ||
       (given.empty() && ref.value.use_empty())))
    return "";
  const Frame &frame = allFrames[ref.frame];
  std::string prefix = frame.name.empty() ? "" : frame.name.str() + "/";
  if (!given.empty())
    return prefix + validUTF8(given);
  if (auto result = dyn_cast<OpResult>(ref.value)) {
    auto node = frame.nodes.find(result.getOwner());
    StringRef owner = node == frame.nodes.end() ? getOpType(result.getOwner())
                                                : allNodes[node->second].name;
    return (owner + ":" + Twine(result.getResultNumber())).str();
  }
  return prefix + "arg" +
         std::to_string(cast<BlockArgument>(ref.value).getArgNumber());
}

//===----------------------------------------------------------------------===//
// Values across calls
//===----------------------------------------------------------------------===//

static Region &bodyOf(const Frame &frame) {
  return cast<FunctionOpInterface>(frame.function).getFunctionBody();
}

/// An `htp.region` marks the boundary of a module and computes nothing.
static bool isBorder(Operation *op) { return isa<RegionOp>(op); }

ValueRef TaggedGraph::resolve(ValueRef ref) const {
  assert(ref.value && "no value to resolve");
  while (true) {
    assert(ref.frame < allFrames.size() && "no such frame");
    const Frame &frame = allFrames[ref.frame];
    if (auto result = dyn_cast<OpResult>(ref.value)) {
      if (isBorder(result.getOwner())) {
        Operation *end =
            result.getOwner()->getRegion(0).front().getTerminator();
        ref.value = end->getOperand(result.getResultNumber());
        continue;
      }
      auto callee = frame.calls.find(result.getOwner());
      if (callee == frame.calls.end())
        return ref;
      Block &body = bodyOf(allFrames[callee->second]).back();
      ref = {body.getTerminator()->getOperand(result.getResultNumber()),
             callee->second};
      continue;
    }
    auto argument = cast<BlockArgument>(ref.value);
    if (!frame.call || argument.getOwner()->getParentOp() != frame.function ||
        argument.getArgNumber() >= frame.call->getNumOperands())
      return ref;
    ref = {frame.call->getOperand(argument.getArgNumber()), frame.caller};
  }
}

std::optional<NodeId> TaggedGraph::producer(ValueRef ref) const {
  ref = resolve(ref);
  Operation *op = ref.value.getDefiningOp();
  if (!op)
    return std::nullopt;
  const Frame &frame = allFrames[ref.frame];
  auto node = frame.nodes.find(op);
  return node == frame.nodes.end() ? std::nullopt
                                   : std::optional<NodeId>(node->second);
}

void TaggedGraph::forEachEdge(
    llvm::function_ref<void(NodeId, NodeId)> edge) const {
  llvm::SmallSet<NodeId, 8> seen;
  for (auto [to, node] : llvm::enumerate(allNodes)) {
    if (node.constant)
      continue;
    seen.clear();
    for (Value operand : node.op->getOperands()) {
      std::optional<NodeId> from = producer({operand, node.frame});
      if (from && !allNodes[*from].constant && seen.insert(*from).second)
        edge(*from, to);
    }
  }
}

std::string TaggedGraph::scope(StringRef path, unsigned index) const {
  assert(index < allFrames.size() && "no such frame");
  const Frame &frame = allFrames[index];
  if (!frame.relative)
    return path.str();
  if (path.consume_front("/"))
    return path.str();
  return path.empty() ? frame.path.str() : joinPath(frame.path, path);
}

//===----------------------------------------------------------------------===//
// TaggedGraphBuilder
//===----------------------------------------------------------------------===//

namespace htp {
class TaggedGraphBuilder {
public:
  TaggedGraphBuilder(mlir::ModuleOp module, TaggedGraph &graph)
      : module(module), calls(module), graph(graph) {}

  LogicalResult build();

private:
  Operation *calleeOf(Operation *op);
  void addFrame(Frame frame);
  void addOp(Operation *op, unsigned frame);
  void addBodies(Operation *op, unsigned frame);
  void nameNodes();

  mlir::ModuleOp module;
  CallGraph calls;
  TaggedGraph &graph;
};
} // namespace htp

/// The function that an operation calls by symbol. A node that calls a
/// model-local function stays an operation, as it is a node of the file.
Operation *TaggedGraphBuilder::calleeOf(Operation *op) {
  return isa<CallOpInterface>(op) ? calls.callee(op) : FunctionOpInterface();
}

LogicalResult TaggedGraphBuilder::build() {
  if (failed(calls.checkRecursion(/*any=*/true)))
    return failure();
  auto bySymbol = [](Operation *op) { return isa<CallOpInterface>(op); };
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal() &&
        llvm::none_of(calls.callers(function), bySymbol)) {
      Frame frame;
      frame.function = function;
      addFrame(std::move(frame));
    }
  nameNodes();
  return success();
}

void TaggedGraphBuilder::addFrame(Frame frame) {
  assert(frame.function && "a frame is an instance of a function");
  Region &body = bodyOf(frame);
  unsigned index = graph.allFrames.size();
  graph.allFrames.push_back(std::move(frame));
  for (Block &block : body)
    for (Operation &op : block)
      addOp(&op, index);
}

/// The tag of the innermost tagged call around a frame.
static TagAttr tagOfCall(ArrayRef<Frame> frames, unsigned index) {
  for (; frames[index].call; index = frames[index].caller)
    if (TagAttr tag = getTag(frames[index].call))
      return tag;
  return {};
}

void TaggedGraphBuilder::addOp(Operation *op, unsigned frame) {
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<SymbolOpInterface>(op) ||
      isAbsentValue(op))
    return;
  if (isBorder(op))
    return addBodies(op, frame);
  if (isInitializer(op)) {
    for (Value result : op->getResults())
      graph.allInitializers.push_back({result, frame});
    return;
  }
  if (Operation *callee = calleeOf(op)) {
    Frame inner;
    inner.function = callee;
    inner.call = op;
    inner.caller = frame;
    inner.path = graph.allFrames[frame].path;
    if (TagAttr tag = getTag(op))
      inner.path = graph.saver.save(graph.scope(tag.getPath(), frame));
    inner.relative = callee->hasAttr(kModuleAttr);
    inner.name = getNodeName(op);
    graph.allFrames[frame].calls[op] = graph.allFrames.size();
    return addFrame(std::move(inner));
  }
  TaggedGraph::Node node;
  node.op = op;
  node.frame = frame;
  node.tag = getTag(op);
  if (node.tag)
    node.module = graph.module(graph.scope(node.tag.getPath(), frame));
  else if ((node.tag = tagOfCall(graph.allFrames, frame)))
    node.module = graph.module(graph.allFrames[frame].path);
  node.constant = op->getName().getStringRef() == "onnx.Constant";
  graph.allFrames[frame].nodes[op] = graph.allNodes.size();
  graph.allNodes.push_back(node);
  addBodies(op, frame);
}

void TaggedGraphBuilder::addBodies(Operation *op, unsigned frame) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        addOp(&inner, frame);
}

/// Names every frame and node. A missing or repeated name gets the node's
/// position appended, so that it is the same on every run.
void TaggedGraphBuilder::nameNodes() {
  llvm::DenseSet<llvm::CachedHashStringRef> taken;
  auto unique = [&](StringRef base, size_t place) {
    std::string name = base.str();
    do
      name += "#" + std::to_string(place);
    while (taken.contains(llvm::CachedHashStringRef(name)));
    StringRef saved = graph.saver.save(name);
    taken.insert(llvm::CachedHashStringRef(saved));
    return saved;
  };
  for (auto [index, frame] : llvm::enumerate(graph.allFrames)) {
    if (!frame.call)
      continue;
    StringRef outer = graph.allFrames[frame.caller].name;
    std::string name = (outer + (outer.empty() ? "" : "/") +
                        (frame.name.empty() ? getOpType(frame.call).str()
                                            : validUTF8(frame.name)))
                           .str();
    StringRef saved = graph.saver.save(name);
    frame.name = !StringRef(frame.name).empty() &&
                         taken.insert(llvm::CachedHashStringRef(saved)).second
                     ? saved
                     : unique(name, index);
  }
  taken.clear();

  std::vector<NodeId> unnamed;
  for (auto [id, node] : llvm::enumerate(graph.allNodes)) {
    StringRef name = getNodeName(node.op);
    StringRef outer = graph.allFrames[node.frame].name;
    if (!llvm::json::isUTF8(name))
      name = graph.saver.save(validUTF8(name));
    if (!outer.empty() && !name.empty())
      name = graph.saver.save(outer + "/" + name);
    node.name = name;
    if (name.empty() || !taken.insert(llvm::CachedHashStringRef(name)).second)
      unnamed.push_back(id);
  }
  for (NodeId id : unnamed) {
    TaggedGraph::Node &node = graph.allNodes[id];
    StringRef outer = graph.allFrames[node.frame].name;
    std::string base = node.name.str();
    if (base.empty())
      base =
          (outer + (outer.empty() ? "" : "/") + validUTF8(getOpType(node.op)))
              .str();
    node.name = unique(base, id);
  }
}

//===----------------------------------------------------------------------===//
// TaggedGraph
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TaggedGraph>>
TaggedGraph::create(mlir::ModuleOp module) {
  HierarchyOp hierarchy = findHierarchy(module);
  if (!hierarchy)
    return module.emitError("the model has no module tree (htp.hierarchy): tag "
                            "it first, with --htp-tag");
  std::unique_ptr<TaggedGraph> graph(
      new TaggedGraph(module, fromIR(hierarchy)));
  if (failed(TaggedGraphBuilder(module, *graph).build()))
    return failure();
  return graph;
}
