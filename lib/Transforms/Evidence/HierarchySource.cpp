// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reconstructs the module tree from each source that the model itself may
// contain.

#include "HierarchySource.h"
#include "PlainModel.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/Scopes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace htp {

/// The names of initializers that can be paths of parameters. Names that
/// exporters invent ("onnx::MatMul_312", "val_7") cannot.
static SmallVector<StringRef> parameterNames(mlir::ModuleOp module) {
  llvm::SetVector<StringRef> names;
  auto add = [&](StringRef name) {
    if (name.contains('.') && !name.contains(':') && !name.contains('/') &&
        !name.contains(' '))
      names.insert(name);
  };
  module->walk([&](Operation *op) {
    bool initializer = isInitializer(op);
    if (initializer || isCopy(op))
      for (Value result : op->getResults())
        add(getValueName(result));
  });
  return names.takeVector();
}

static std::optional<ModuleTree> treeFromMetadata(mlir::ModuleOp module) {
  ExportTreeBuilder builder;
  forEachNode(module, [&](Operation *op) {
    StringAttr names = getMetadata(op, "pkg.torch.onnx.name_scopes");
    StringAttr classes = getMetadata(op, "pkg.torch.onnx.class_hierarchy");
    if (!names)
      return;
    if (auto scope = parseExportScope(names, classes ? classes.getValue() : ""))
      builder.add(*scope);
  });
  if (builder.empty())
    return std::nullopt;
  builder.addParameters(parameterNames(module));
  return builder.build();
}

static std::optional<ModuleTree> treeFromNames(mlir::ModuleOp module) {
  llvm::SetVector<StringRef> scopes;
  forEachNode(module, [&](Operation *op) {
    // The name of a node that an optimizer made contains more than a scope.
    // Only a name that ends with the operator's is certain to be scope and op.
    StringRef name = getNodeName(op);
    StringRef last = name.drop_front(name.rfind('/') + 1);
    if (auto scope = scopeOf(name); scope && last.starts_with(getOpType(op)))
      scopes.insert(*scope);
    for (Value result : op->getResults())
      if (auto scope = scopeOf(getValueName(result)))
        scopes.insert(*scope);
  });
  SmallVector<StringRef> parameters = parameterNames(module);
  if (scopes.empty() && parameters.empty())
    return std::nullopt;
  return treeFromScopes(scopes.getArrayRef(), parameters);
}

static std::optional<ModuleTree> treeFromLocations(mlir::ModuleOp module) {
  llvm::MapVector<StringRef, int64_t> calls;
  forEachNode(module, [&](Operation *op) {
    for (Scope scope : findScopes(op->getLoc())) {
      int64_t &count = calls[scope.path];
      count = std::max(count, scope.call + 1);
    }
  });
  if (calls.empty())
    return std::nullopt;
  std::vector<Module> modules(1);
  for (const auto &[path, count] : calls) {
    if (path.empty())
      continue;
    modules.emplace_back().path = path.str();
    modules.back().calls = count;
  }
  llvm::Expected<ModuleTree> tree = ModuleTree::create(std::move(modules));
  if (tree)
    return std::move(*tree);
  llvm::consumeError(tree.takeError()); // locations that are not ours
  return std::nullopt;
}

std::optional<ModuleTree> findTree(mlir::ModuleOp module,
                                   HierarchySource source) {
  switch (source) {
  case HierarchySource::Trace:
    return std::nullopt;
  case HierarchySource::Hierarchy:
    if (HierarchyOp op = findHierarchy(module))
      return fromIR(op);
    return treeFromText(module);
  case HierarchySource::Metadata:
    return treeFromMetadata(module);
  case HierarchySource::Names:
    return treeFromNames(module);
  case HierarchySource::Locations:
    return treeFromLocations(module);
  }
  llvm_unreachable("all sources are read");
}

} // namespace htp
