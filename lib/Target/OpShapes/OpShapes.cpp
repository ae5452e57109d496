// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/OpShapes.h"
#include "HTP/Target/TaggedGraph.h"
#include "HTP/Target/WorkJSON.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace htp;

namespace {
class OpShapesWriter {
public:
  OpShapesWriter(const TaggedGraph &graph, raw_ostream &os)
      : graph(graph), json(os) {}

  void write();

private:
  void writeType(TaggedGraph::ValueRef ref);
  void writeInputs();

  const TaggedGraph &graph;
  llvm::json::OStream json;
};
} // namespace

/// `"m": ["f32", [4, null]]`.
void OpShapesWriter::writeType(TaggedGraph::ValueRef ref) {
  auto tensor = dyn_cast<TensorType>(ref.value.getType());
  std::string name = graph.valueName(ref);
  if (tensor && !name.empty())
    json.attributeArray(name, [&] { writeTensorType(tensor, json); });
}

void OpShapesWriter::writeInputs() {
  for (auto [index, frame] : llvm::enumerate(graph.frames())) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(frame.function);
    if (frame.call || !function || function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments())
      writeType({argument, unsigned(index)});
  }
}

void OpShapesWriter::write() {
  json.object([&] {
    json.attribute("format", "htp-op-shapes");
    json.attribute("version", 1);
    json.attributeObject("values", [&] {
      writeInputs();
      for (TaggedGraph::ValueRef ref : graph.initializers())
        writeType(ref);
      for (const TaggedGraph::Node &node : graph.nodes())
        for (Value result : node.op->getResults())
          writeType({result, node.frame});
    });
    json.attributeObject("attributes", [&] {
      for (const TaggedGraph::Node &node : graph.nodes())
        if (!node.constant && llvm::any_of(node.op->getAttrs(), isTelling))
          json.attributeObject(node.name, [&] {
            for (NamedAttribute named : node.op->getAttrs())
              if (isTelling(named))
                writeTelling(named, json);
          });
    });
  });
}

LogicalResult htp::writeOpShapes(mlir::ModuleOp module, raw_ostream &os) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  OpShapesWriter(**graph, os).write();
  os << '\n';
  return success();
}
