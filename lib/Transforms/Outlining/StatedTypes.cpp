// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads which values a subgraph states types of, from the importer's
// description of it.

#include "StatedTypes.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

using namespace mlir;

namespace htp {

/// The names in the outputs and in value_info of a subgraph, without those that
/// have no type there.
static llvm::DenseSet<Attribute> readNames(DictionaryAttr graph) {
  llvm::DenseSet<Attribute> names;
  for (StringRef key : {"outputs", "value_info"}) {
    auto entries = graph.getAs<ArrayAttr>(key);
    for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>())
      if (auto fields = dyn_cast<DictionaryAttr>(entry);
          fields && !fields.contains("no_type"))
        names.insert(fields.get("name"));
      else if (isa<StringAttr>(entry))
        names.insert(entry);
  }
  return names;
}

bool StatedTypes::isStated(OpResult result) {
  Operation *op = result.getOwner(), *parent = op->getParentOp();
  if (!parent) // in a body that is not a function yet
    return true;
  auto graphs = parent->getAttrOfType<ArrayAttr>("onnx.graphs");
  const unsigned number = op->getParentRegion()->getRegionNumber();
  auto graph = graphs && number < graphs.size()
                   ? dyn_cast<DictionaryAttr>(graphs[number])
                   : DictionaryAttr();
  if (!graph) // a function, or not from a file
    return true;
  auto [it, isNew] = known.try_emplace(graph);
  if (isNew)
    it->second = readNames(graph);
  return it->second.contains(getValueNameAttr(result));
}

bool StatedTypes::isLost(Operation *body, Operation *original) {
  return llvm::any_of(llvm::zip(body->getResults(), original->getResults()),
                      [&](auto pair) {
                        auto [left, right] = pair;
                        return isStated(right) && !isStated(left);
                      });
}

} // namespace htp
