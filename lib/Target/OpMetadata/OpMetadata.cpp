// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams the sidecar JSON: modules, operations, initializers and figures.

#include "HTP/Target/OpMetadata.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/Scopes.h"
#include "HTP/Hierarchy/TreeJSON.h"
#include "HTP/Target/Figures.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/MetadataJSON.h"
#include "HTP/Target/TaggedGraph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace htp;

using NodeId = TaggedGraph::NodeId;

namespace {
class OpMetadataWriter {
public:
  OpMetadataWriter(const TaggedGraph &graph, raw_ostream &os)
      : graph(graph), tree(graph.tree()), statistics(graph), json(os) {}

  void write(OpMetadataParts parts);

private:
  void writeFunctions();
  void writeNode(NodeId id);
  void writeContexts(const TaggedGraph::Node &node);
  void writeInitializer(TaggedGraph::ValueRef ref);
  void writeNotes(const Figures &figures);
  void writeStrings(StringRef key, ArrayRef<std::string> strings);

  void string(StringRef key, StringRef value) {
    json.attribute(key, validUTF8(value));
  }
  void number(StringRef key, double value) {
    json.attributeBegin(key);
    writeNumber(value, json);
    json.attributeEnd();
  }

  const TaggedGraph &graph;
  const ModuleTree &tree;
  GraphStatistics statistics;
  llvm::json::OStream json;
};
} // namespace

void OpMetadataWriter::writeStrings(StringRef key,
                                    ArrayRef<std::string> strings) {
  json.attributeArray(key, [&] {
    for (const std::string &text : strings)
      json.value(validUTF8(text));
  });
}

void OpMetadataWriter::writeFunctions() {
  llvm::MapVector<Operation *, std::vector<const TaggedGraph::Frame *>> calls;
  for (const TaggedGraph::Frame &frame : graph.frames())
    if (frame.call)
      calls[frame.function].push_back(&frame);
  for (auto &[function, frames] : calls)
    json.attributeObject(validUTF8(SymbolTable::getSymbolName(function)),
                         [&, &frames = frames] {
                           json.attributeArray("calls", [&] {
                             for (const TaggedGraph::Frame *frame : frames)
                               json.object([&] {
                                 string("node", frame->name);
                                 string("scope", frame->path);
                               });
                           });
                         });
}

void OpMetadataWriter::writeContexts(const TaggedGraph::Node &node) {
  for (ContextAttr context : node.tag.getContexts())
    json.object([&] {
      std::string scope = graph.scope(context.getPath(), node.frame);
      string("tag", graph.tags()[graph.module(scope)]);
      string("scope", scope);
      string("evidence", stringifyEvidence(context.getEvidence()));
      number("confidence", context.getConfidenceValue());
    });
}

void OpMetadataWriter::writeNode(NodeId id) {
  const TaggedGraph::Node &node = graph.nodes()[id];
  auto values = [&](ValueRange values) {
    for (Value value : values)
      json.value(graph.valueName({value, node.frame}));
  };
  string("op_type", getOpType(node.op));
  string("domain", getDomain(node.op));
  json.attributeArray("inputs", [&] { values(node.op->getOperands()); });
  json.attributeArray("outputs", [&] { values(node.op->getResults()); });
  if (std::optional<SourceLine> line = sourceOf(node.op))
    json.attributeObject("source", [&] {
      string("file", line->file);
      json.attribute("line", int64_t(line->line));
    });
  if (!node.tag) {
    json.attributeArray("tags", [] {});
    json.attribute("tag", nullptr);
    return;
  }
  StringRef tag = graph.tags()[node.module];
  llvm::SmallSetVector<StringRef, 4> tags;
  tags.insert(tag);
  for (ContextAttr context : node.tag.getContexts())
    if (context.getEvidence() == Evidence::Consumer)
      tags.insert(graph.tags()[graph.module(
          graph.scope(context.getPath(), node.frame))]);
  json.attributeArray("tags", [&] {
    for (StringRef tag : tags)
      json.value(validUTF8(tag));
  });
  string("tag", tag);
  string("scope", tree[node.module].path);
  json.attribute("call", node.tag.getCall());
  string("evidence", stringifyEvidence(node.tag.getEvidence()));
  number("confidence", node.tag.getConfidenceValue());
  json.attributeArray("contexts", [&] { writeContexts(node); });
  string("reason", node.tag.getReason());
}

void OpMetadataWriter::writeInitializer(TaggedGraph::ValueRef ref) {
  std::vector<ModuleId> users = usersOf(graph, ref);
  llvm::SmallSetVector<StringRef, 4> tags;
  for (ModuleId user : users)
    tags.insert(graph.tags()[user]);
  json.attribute("op_type", "Initializer");
  json.attribute("domain", "");
  json.attributeArray("inputs", [] {});
  json.attributeArray("outputs", [&] { json.value(graph.valueName(ref)); });
  json.attributeArray("tags", [&] {
    for (StringRef tag : tags)
      json.value(validUTF8(tag));
  });
  json.attributeArray("scopes", [&] {
    for (ModuleId user : users)
      json.value(validUTF8(tree[user].path));
  });
  auto parameter =
      ref.value.getDefiningOp()->getAttrOfType<StringAttr>(kParameterAttr);
  if (parameter)
    string("parameter", parameter);
  else
    json.attribute("parameter", nullptr);
}

/// The notes that `htp analyze` shows in addition to modules.
void OpMetadataWriter::writeNotes(const Figures &figures) {
  json.attributeArray("notes", [&] {
    for (const std::string &note : figures.notes)
      json.value(note);
  });
  json.attributeObject("unsure", [&] {
    for (NodeId id : llvm::seq<NodeId>(0, graph.nodes().size()))
      if (isUnsure(graph.nodes()[id]))
        json.attributeObject(graph.nodes()[id].name, [&] { writeNode(id); });
  });
}

void OpMetadataWriter::write(OpMetadataParts parts) {
  std::optional<Figures> figures;
  if (parts == OpMetadataParts::Figures)
    figures.emplace(graph);
  json.object([&] {
    json.attribute("format", "htp-op-metadata");
    json.attribute("version", 1);
    if (!tree.getProducer().empty())
      json.attributeObject("producer",
                           [&] { writeProducer(tree.getProducer(), json); });
    json.attributeObject("hierarchy", [&] {
      json.attributeArray("modules", [&] {
        for (ModuleId id : tree.ids())
          json.object([&] {
            writeModule(graph, statistics, id, json);
            json.attributeArray("parameters", [&] {
              for (const Parameter &parameter : tree[id].parameters)
                writeParameter(parameter, json);
            });
            if (figures)
              figures->writeModule(id, /*whole=*/false, json);
          });
      });
    });
    json.attributeObject("statistics",
                         [&] { writeStatistics(graph, statistics, json); });
    json.attributeObject("functions", [&] { writeFunctions(); });
    if (figures)
      writeNotes(*figures);
    if (parts != OpMetadataParts::All)
      return;
    json.attributeObject("nodes", [&] {
      for (NodeId id : llvm::seq<NodeId>(0, graph.nodes().size()))
        json.attributeObject(graph.nodes()[id].name, [&] { writeNode(id); });
    });
    json.attributeObject("initializers", [&] {
      for (TaggedGraph::ValueRef ref : graph.initializers())
        json.attributeObject(graph.valueName(ref),
                             [&] { writeInitializer(ref); });
    });
  });
}

LogicalResult htp::writeOpMetadata(mlir::ModuleOp module, raw_ostream &os,
                                   OpMetadataParts parts) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  OpMetadataWriter(**graph, os).write(parts);
  os << '\n';
  return success();
}
