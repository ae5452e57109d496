// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the JSON document behind the page of `htp view`, column by column.

#include "Document.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Target/Figures.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/MetadataJSON.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace htp;

using NodeId = TaggedGraph::NodeId;

namespace {
/// Numbers texts, each of which is written once.
class Texts {
public:
  unsigned operator()(StringRef text) {
    return numbers.insert({text.str(), unsigned(numbers.size())}).first->second;
  }
  void write(StringRef key, llvm::json::OStream &json) const {
    json.attributeArray(key, [&] {
      for (auto &[text, number] : numbers)
        json.value(text);
    });
  }

private:
  llvm::MapVector<std::string, unsigned, std::map<std::string, unsigned>>
      numbers;
};

class DocumentWriter {
public:
  DocumentWriter(const TaggedGraph &graph, llvm::json::OStream &json)
      : graph(graph), tree(graph.tree()), statistics(graph), figures(graph),
        json(json) {
    for (auto [id, node] : llvm::enumerate(graph.nodes()))
      if (!node.constant) {
        numbers[id] = shown.size();
        shown.push_back(id);
      }
  }

  void write(StringRef file);

private:
  void writeModules();
  void writeRepeated();
  void writeNodes();
  void writeReasons();
  void writeHandles();
  void writeEdges();
  template <typename Value> void column(StringRef key, Value value);
  const TaggedGraph::Node &node(NodeId id) const { return graph.nodes()[id]; }

  const TaggedGraph &graph;
  const ModuleTree &tree;
  GraphStatistics statistics;
  Figures figures;
  llvm::json::OStream &json;
  std::vector<NodeId> shown; ///< without constants
  llvm::DenseMap<NodeId, unsigned> numbers;
  Texts ops, evidence, types, reasons, sources;
};
} // namespace

void DocumentWriter::writeModules() {
  json.attributeArray("modules", [&] {
    for (ModuleId id : tree.ids())
      json.object([&] {
        writeModule(graph, statistics, id, json);
        figures.writeModule(id, /*whole=*/true, json);
        json.attribute("parent",
                       id == tree.root() ? -1 : int64_t(tree[id].parent));
      });
  });
}

/// Groups of equal sibling modules, outermost first. Their submodules are
/// listed only once.
void DocumentWriter::writeRepeated() {
  std::vector<std::vector<ModuleId>> pending = {{tree.root()}};
  json.attributeArray("repeated", [&] {
    while (!pending.empty()) {
      std::vector<ModuleId> layers = pending.back();
      pending.pop_back();
      if (layers.size() > 1)
        json.object([&] {
          json.attribute("class", validUTF8(tree[layers.front()].className));
          json.attributeArray("modules", [&] {
            for (ModuleId id : layers)
              json.value(id);
          });
        });
      llvm::MapVector<unsigned, std::vector<ModuleId>> groups;
      for (ModuleId child : tree.children(layers.front()))
        groups[figures.kinds[child]].push_back(child);
      for (auto &[kind, group] : llvm::reverse(groups))
        pending.push_back(std::move(group));
    }
  });
}

/// Writes one value per shown node.
template <typename Value>
void DocumentWriter::column(StringRef key, Value value) {
  json.attributeArray(key, [&] {
    for (NodeId id : shown)
      value(id);
  });
}

void DocumentWriter::writeNodes() {
  auto amount = [&](std::optional<int64_t> known) {
    known ? json.value(*known) : json.value(nullptr);
  };
  json.attributeObject("nodes", [&] {
    column("name", [&](NodeId id) { json.value(node(id).name); });
    column("op", [&](NodeId id) {
      std::string type = validUTF8(getOpType(node(id).op));
      std::string domain = validUTF8(getDomain(node(id).op));
      json.value(ops(domain.empty() ? type : domain + "." + type));
    });
    column("module", [&](NodeId id) {
      json.value(node(id).tag ? int64_t(node(id).module) : -1);
    });
    column("evidence", [&](NodeId id) {
      json.value(evidence(
          node(id).tag ? stringifyEvidence(node(id).tag.getEvidence()) : ""));
    });
    column("confidence", [&](NodeId id) {
      writeNumber(node(id).tag ? node(id).tag.getConfidenceValue() : 0.0, json);
    });
    column("multiply_adds",
           [&](NodeId id) { amount(figures.nodes[id].multiplyAdds); });
    column("activation_bytes",
           [&](NodeId id) { amount(figures.nodes[id].activationBytes); });
    column("types", [&](NodeId id) {
      json.value(types(llvm::join(typesOf(graph, node(id)), ", ")));
    });
    column("source", [&](NodeId id) {
      std::optional<SourceLine> line = sourceOf(node(id).op);
      json.value(sources(line ? validUTF8(line->file) + ":" +
                                    std::to_string(line->line)
                              : ""));
    });
  });
}

void DocumentWriter::writeReasons() {
  std::vector<NodeId> unsure;
  llvm::copy_if(shown, std::back_inserter(unsure),
                [&](NodeId id) { return isUnsure(node(id)); });
  llvm::sort(unsure, [&](NodeId a, NodeId b) { // lowest confidence first
    auto key = [&](NodeId id) {
      TagAttr tag = node(id).tag;
      return std::tuple(bool(tag), tag ? tag.getConfidenceValue() : 0.0, id);
    };
    return key(a) < key(b);
  });
  json.attributeArray("unsure", [&] {
    for (NodeId id : unsure)
      json.value(numbers[id]);
  });
  json.attributeArray("contexts", [&] {
    for (NodeId id : shown)
      for (ContextAttr context :
           node(id).tag ? node(id).tag.getContexts() : ArrayRef<ContextAttr>())
        json.array([&] {
          json.value(numbers[id]);
          std::string scope = graph.scope(context.getPath(), node(id).frame);
          std::optional<ModuleId> module = tree.find(scope);
          json.value(module ? int64_t(*module) : -1);
          json.value(evidence(stringifyEvidence(context.getEvidence())));
          writeNumber(context.getConfidenceValue(), json);
        });
  });
  json.attributeArray("reasons", [&] {
    for (NodeId id : shown)
      if (TagAttr tag = node(id).tag; tag && !tag.getReason().empty())
        json.array([&] {
          json.value(numbers[id]);
          json.value(reasons(validUTF8(tag.getReason())));
        });
  });
}

/// The part before `#` of a name such as `Add#17`, which HTP gives to nodes
/// without a unique name: from their type, or from the name that they share.
static std::optional<StringRef> madeFrom(StringRef name) {
  auto [stem, number] = name.rsplit('#');
  bool digits = !number.empty() &&
                llvm::all_of(number, [](char c) { return llvm::isDigit(c); });
  return name.contains('#') && digits ? std::optional(stem) : std::nullopt;
}

/// For nodes without a unique name in the file, the name of one of their
/// results, by which overrides can refer to them.
void DocumentWriter::writeHandles() {
  llvm::StringSet<> shared;
  llvm::StringMap<NodeId> makers;
  for (auto [id, node] : llvm::enumerate(graph.nodes())) {
    if (std::optional<StringRef> stem = madeFrom(node.name))
      shared.insert(*stem);
    for (Value value : node.op->getResults())
      if (std::string name = graph.valueName({value, node.frame});
          !name.empty())
        makers[name] = id;
  }
  json.attributeArray("handles", [&] {
    for (NodeId id : shown) {
      StringRef name = node(id).name;
      auto maker = makers.find(name);
      bool another = maker != makers.end() && maker->second != id;
      if (!madeFrom(name) && !shared.contains(name) && !another)
        continue;
      for (Value value : node(id).op->getResults()) {
        std::string made = graph.valueName({value, node(id).frame});
        if (made.empty())
          continue;
        json.array([&] {
          json.value(numbers[id]);
          json.value(made);
        });
        break;
      }
    }
  });
}

void DocumentWriter::writeEdges() {
  json.attributeArray("edges", [&] {
    graph.forEachEdge([&](NodeId from, NodeId to) {
      json.value(numbers[from]);
      json.value(numbers[to]);
    });
  });
}

void DocumentWriter::write(StringRef file) {
  json.object([&] {
    json.attribute("format", "htp-view");
    json.attribute("version", 1);
    json.attribute("file", validUTF8(file));
    json.attribute("producer", "htp " HTP_VERSION);
    json.attributeObject("statistics",
                         [&] { writeStatistics(graph, statistics, json); });
    json.attributeArray("notes", [&] {
      for (const std::string &note : figures.notes)
        json.value(note);
    });
    writeModules();
    writeRepeated();
    writeNodes();
    writeReasons();
    writeHandles();
    writeEdges();
    json.attributeObject("names", [&] {
      ops.write("ops", json);
      evidence.write("evidence", json);
      types.write("types", json);
      reasons.write("reasons", json);
      sources.write("sources", json);
    });
    for (StringRef overlay : {"profile", "diff", "edit"})
      json.attribute(overlay, nullptr);
  });
}

void htp::writeDocument(const TaggedGraph &graph, StringRef file,
                        llvm::json::OStream &json) {
  DocumentWriter(graph, json).write(file);
}
