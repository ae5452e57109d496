// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the layers to compile separately, and inlines all other functions.

#include "Layers.h"
#include "Surroundings.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace htp;

namespace {

class LayerChoice {
public:
  explicit LayerChoice(mlir::ModuleOp module)
      : module(module), symbols(module), tree(fromIR(module)) {}

  FailureOr<LayeredModel> run();

private:
  FailureOr<func::FuncOp> findMain();
  LogicalResult visit(func::FuncOp function, uint64_t runs);
  void choose(func::FuncOp main);
  bool isWithinRepeated(const std::string &className);
  std::string classOf(func::FuncOp function) const;
  func::FuncOp calleeOf(func::CallOp call);
  void inlineCalls(func::FuncOp function, bool keepLayers);
  void nameLayers(std::vector<Layer> &layers) const;

  mlir::ModuleOp module;
  SymbolTable symbols;
  ModuleTree tree;

  struct Node {
    SmallVector<func::FuncOp> callees; ///< one for each call
    /// How often one run of the model calls it.
    uint64_t runs = 0;
    bool isOpen = false;
  };
  llvm::MapVector<func::FuncOp, Node> nodes; ///< functions reachable from main
  llvm::DenseSet<func::FuncOp> chosen;
};

} // namespace

/// The class of the modules whose body `function` is; without a module tree,
/// the function's name.
std::string LayerChoice::classOf(func::FuncOp function) const {
  auto path = function->getAttrOfType<StringAttr>(kModuleAttr);
  std::optional<ModuleId> id = path ? tree.find(path) : std::nullopt;
  if (!id || tree[*id].className.empty())
    return function.getSymName().str();
  return tree[*id].className;
}

func::FuncOp LayerChoice::calleeOf(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  return callee && !callee.isExternal() ? callee : func::FuncOp();
}

FailureOr<func::FuncOp> LayerChoice::findMain() {
  for (auto entry : module.getOps<htp::onnx::EntryPointOp>())
    if (auto main = symbols.lookup<func::FuncOp>(
            entry.getFunc().getRootReference().getValue()))
      return main;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(kModuleAttr) && !function.isExternal())
      return function;
  return module.emitError("has no function, which IREE needs");
}

/// Adds `runs` to the count of `function`, and likewise for its callees.
LogicalResult LayerChoice::visit(func::FuncOp function, uint64_t runs) {
  if (nodes[function].isOpen)
    return function.emitError("calls itself, which IREE cannot compile");
  bool isNew = nodes[function].runs == 0;
  nodes[function].runs = llvm::SaturatingAdd(nodes[function].runs, runs);
  nodes[function].isOpen = true;
  if (isNew)
    function.walk([&](func::CallOp call) {
      if (func::FuncOp callee = calleeOf(call))
        nodes[function].callees.push_back(callee);
    });
  for (func::FuncOp callee : llvm::to_vector(nodes[function].callees))
    if (failed(visit(callee, runs)))
      return failure();
  nodes[function].isOpen = false;
  return success();
}

/// Whether a function of the class is nested in a function of another class
/// that is called repeatedly.
bool LayerChoice::isWithinRepeated(const std::string &className) {
  SmallVector<func::FuncOp> pending;
  for (auto &[function, node] : nodes)
    if (node.runs > 1 && classOf(function) != className)
      pending.push_back(function);
  llvm::DenseSet<func::FuncOp> seen;
  while (!pending.empty())
    for (func::FuncOp callee : nodes[pending.pop_back_val()].callees) {
      if (classOf(callee) == className)
        return true;
      if (seen.insert(callee).second)
        pending.push_back(callee);
    }
  return false;
}

void LayerChoice::choose(func::FuncOp main) {
  bool nested = false;
  std::map<std::string, bool> isLayer;
  for (auto &[function, node] : nodes) {
    nested |= function != main && !node.callees.empty();
    if (function != main && node.runs > 1)
      isLayer[classOf(function)] = true;
  }
  for (auto &[className, layer] : isLayer)
    layer = !isWithinRepeated(className);
  for (auto &[function, node] : nodes)
    // If nothing is nested, the user selected every function explicitly.
    if (function != main && (!nested || (isLayer.count(classOf(function)) &&
                                         isLayer[classOf(function)])))
      chosen.insert(function);
  if (chosen.empty())
    for (func::FuncOp callee : nodes[main].callees)
      chosen.insert(callee);
}

/// Replaces `call` by the callee's ops, with the names and scopes of this call.
static SmallVector<Operation *> inlineCall(func::CallOp call,
                                           func::FuncOp callee) {
  Block body;
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.front())
    body.push_back(op.clone(mapping));
  TagAttr tag = getTag(call);
  ModuleFrame frame(tag ? tag.getPath() : StringRef());
  for (Operation &op : body)
    makeAbsolute(&op, frame);
  if (auto originals = call->getAttrOfType<OriginalsAttr>(kOriginalsAttr)) {
    SmallVector<Operation *> recorded = recordedOps(body);
    if (recorded.size() == originals.size())
      for (auto [i, op] : llvm::enumerate(recorded))
        applyDifference(op, originals[i]);
  }
  Operation *end = &body.back();
  call->replaceAllUsesWith(end->getOperands());
  end->erase();
  auto ops = llvm::map_to_vector(body, [](Operation &op) { return &op; });
  call->getBlock()->getOperations().splice(Block::iterator(call),
                                           body.getOperations());
  call->erase();
  return ops;
}

void LayerChoice::inlineCalls(func::FuncOp function, bool keepLayers) {
  SmallVector<func::CallOp> pending;
  auto collect = [&](Operation *op) {
    op->walk([&](func::CallOp call) { pending.push_back(call); });
  };
  collect(function);
  while (!pending.empty()) {
    func::CallOp call = pending.pop_back_val();
    func::FuncOp callee = calleeOf(call);
    // IREE supports calls of other modules only outside of control flow.
    bool kept = keepLayers && chosen.contains(callee) &&
                call->getBlock() == &function.front();
    if (callee && !kept)
      for (Operation *op : inlineCall(call, callee))
        collect(op);
  }
}

/// The variant of a class with the most calls gets the plain class name. So if
/// a single layer changes, the other layers and their calls keep their names.
void LayerChoice::nameLayers(std::vector<Layer> &layers) const {
  SmallVector<Layer *> byCalls;
  for (Layer &layer : layers)
    byCalls.push_back(&layer);
  llvm::sort(byCalls, [](Layer *a, Layer *b) {
    return a->calls.size() != b->calls.size()
               ? a->calls.size() > b->calls.size()
               : a < b;
  });
  llvm::StringMap<unsigned> variants;
  llvm::StringSet<> taken;
  taken.insert("main");
  taken.insert(kAroundFile);
  for (Layer *layer : byCalls) {
    std::string name;
    for (char c : layer->className)
      name += llvm::isAlnum(c) ? c : '_';
    std::string unique = name;
    while (!taken.insert(unique).second)
      unique = name + "_" + std::to_string(++variants[name]);
    layer->name = unique;
    if (layer->file.empty())
      layer->file = unique;
  }
}

/// Sorts arguments by their first use in the body. Outlining's order depends on
/// which parameters the model shares, and the text of a layer should not.
static void sortArguments(Layer &layer) {
  Block &body = layer.function.front();
  SmallVector<unsigned> order;
  llvm::DenseSet<unsigned> seen;
  auto add = [&](unsigned argument) {
    if (seen.insert(argument).second)
      order.push_back(argument);
  };
  layer.function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && argument.getOwner() == &body)
        add(argument.getArgNumber());
  });
  for (unsigned argument : llvm::seq(body.getNumArguments()))
    add(argument);
  const unsigned count = order.size();
  for (unsigned argument : order) {
    BlockArgument old = body.getArgument(argument);
    old.replaceAllUsesWith(body.addArgument(old.getType(), old.getLoc()));
  }
  body.eraseArguments(0, count);
  layer.function.setType(FunctionType::get(layer.function.getContext(),
                                           body.getArgumentTypes(),
                                           layer.function.getResultTypes()));
  for (func::CallOp call : layer.calls)
    call->setOperands(llvm::map_to_vector(
        order, [&](unsigned argument) { return call.getOperand(argument); }));
}

FailureOr<LayeredModel> LayerChoice::run() {
  FailureOr<func::FuncOp> main = findMain();
  if (failed(main) || failed(visit(*main, 1)))
    return failure();
  choose(*main);
  inlineCalls(*main, /*keepLayers=*/true);
  LayeredModel model{*main, {}};
  llvm::DenseMap<func::FuncOp, size_t> indices;
  for (auto call : main->front().getOps<func::CallOp>()) {
    func::FuncOp callee = calleeOf(call);
    if (!callee)
      return call.emitError("calls a function without a body, '@")
             << call.getCallee() << "'";
    auto [known, isNew] = indices.try_emplace(callee, model.layers.size());
    if (isNew)
      model.layers.push_back({callee, "", classOf(callee), {}, ""});
    model.layers[known->second].calls.push_back(call);
  }
  for (Layer &layer : model.layers)
    inlineCalls(layer.function, /*keepLayers=*/false);
  separateSurroundings(model);
  for (Layer &layer : model.layers)
    sortArguments(layer);
  nameLayers(model.layers);
  return model;
}

FailureOr<LayeredModel> htp::separateLayers(mlir::ModuleOp module) {
  return LayerChoice(module).run();
}
