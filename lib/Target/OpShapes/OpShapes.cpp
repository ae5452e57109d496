// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/OpShapes.h"
#include "HTP/Target/TaggedGraph.h"

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
  void writeAttribute(StringRef name, Attribute value);

  const TaggedGraph &graph;
  llvm::json::OStream json;
};
} // namespace

/// `"m": ["f32", [4, null]]`; sizes that are not known are null, and so are all
/// of a value whose rank is not known.
void OpShapesWriter::writeType(TaggedGraph::ValueRef ref) {
  auto tensor = dyn_cast<TensorType>(ref.value.getType());
  std::string name = graph.valueName(ref);
  if (!tensor || name.empty())
    return;
  std::string element;
  llvm::raw_string_ostream(element) << tensor.getElementType();
  json.attributeArray(name, [&] {
    json.value(element);
    if (!tensor.hasRank())
      return json.value(nullptr);
    json.array([&] {
      for (int64_t size : tensor.getShape())
        if (ShapedType::isDynamic(size))
          json.value(nullptr);
        else
          json.value(size);
    });
  });
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

/// Whether an attribute says how much there is to do: an integer, a list of
/// them, or a text, and nothing that HTP keeps of the file.
static bool isTelling(NamedAttribute named) {
  StringRef name = named.getName();
  if (name.starts_with("onnx_") || name.contains('.'))
    return false;
  auto isNumber = [](Attribute value) {
    auto number = dyn_cast<IntegerAttr>(value);
    return number && number.getValue().getBitWidth() <= 64;
  };
  auto list = dyn_cast<ArrayAttr>(named.getValue());
  return isa<StringAttr>(named.getValue()) || isNumber(named.getValue()) ||
         (list && llvm::all_of(list, isNumber));
}

static int64_t getNumber(Attribute value) {
  return cast<IntegerAttr>(value).getValue().getSExtValue();
}

void OpShapesWriter::writeAttribute(StringRef name, Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return json.attribute(name, validUTF8(text));
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return json.attribute(name, getNumber(value));
  json.attributeArray(name, [&] {
    for (Attribute number : list)
      json.value(getNumber(number));
  });
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
                writeAttribute(named.getName(), named.getValue());
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
