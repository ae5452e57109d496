// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module is a node that contains a graph: its operations, its submodules, and
// the edges of which it is the lowest common ancestor. `yfiles.foldertype`
// marks such nodes for yEd and networkx, which otherwise read only the
// outermost graph.

#include "HTP/Target/GraphML.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace htp;

using NodeId = TaggedGraph::NodeId;

/// Consumes one code point from the front of `text`, which must be valid UTF-8.
static uint32_t takeCodePoint(StringRef &text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *source = begin;
  llvm::UTF32 code = 0, *target = &code;
  llvm::ConvertUTF8toUTF32(&source, begin + llvm::getNumBytesForUTF8(*begin),
                           &target, target + 1, llvm::strictConversion);
  text = text.drop_front(source - begin);
  return code;
}

/// Escapes `text` for XML 1.0, which cannot represent most control characters.
/// They are replaced by their Unicode pictures (U+2400 …).
static std::string escapeXML(StringRef text) {
  std::string valid = validUTF8(text), escaped;
  for (StringRef rest = valid; !rest.empty();) {
    StringRef before = rest;
    uint32_t code = takeCodePoint(rest);
    switch (code) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\t':
    case '\n':
    case '\r': // readers normalize the bare characters to spaces
      escaped += "&#" + std::to_string(code) + ";";
      break;
    case 0xFFFE:
    case 0xFFFF:
      escaped += "\xEF\xBF\xBD"; // U+FFFD, the replacement character
      break;
    default:
      if (code < 0x20 || code == 0x7F) {
        escaped += "\xE2\x90"; // U+2400 + code; U+2421 for DEL
        escaped += char(0x80 + (code == 0x7F ? 0x21 : code));
      } else {
        escaped += before.drop_back(rest.size());
      }
    }
  }
  return escaped;
}

namespace {
class GraphMLWriter {
public:
  GraphMLWriter(const TaggedGraph &graph, raw_ostream &os)
      : graph(graph), tree(graph.tree()), os(os), nodes(tree.size()),
        edges(tree.size()) {}

  void write();

private:
  void collect();
  void writeKeys();
  void openModule(ModuleId id);
  void closeModule(ModuleId id);
  void writeNode(NodeId id);
  void data(StringRef key, const Twine &value) {
    os << "<data key=\"" << key << "\">" << escapeXML(value.str()) << "</data>";
  }

  const TaggedGraph &graph;
  const ModuleTree &tree;
  raw_ostream &os;
  std::vector<std::vector<NodeId>> nodes;
  std::vector<std::vector<std::pair<NodeId, NodeId>>> edges;
};
} // namespace

void GraphMLWriter::collect() {
  // Operations without a tag are put into the root, so that none are lost.
  auto moduleOf = [&](NodeId id) {
    const TaggedGraph::Node &node = graph.nodes()[id];
    return node.tag ? node.module : tree.root();
  };
  for (auto [id, node] : llvm::enumerate(graph.nodes()))
    if (!node.constant)
      nodes[moduleOf(id)].push_back(id);
  graph.forEachEdge([&](NodeId from, NodeId to) {
    edges[tree.lowestCommonAncestor(moduleOf(from), moduleOf(to))].emplace_back(
        from, to);
  });
}

void GraphMLWriter::writeKeys() {
  struct Key {
    StringLiteral name, type;
  };
  static constexpr Key keys[] = {
      {"kind", "string"},      {"name", "string"},  {"op_type", "string"},
      {"domain", "string"},    {"tag", "string"},   {"scope", "string"},
      {"call", "long"},        {"class", "string"}, {"evidence", "string"},
      {"confidence", "double"}};
  for (const Key &key : keys)
    os << llvm::formatv("  <key id=\"{0}\" for=\"node\" attr.name=\"{0}\" "
                        "attr.type=\"{1}\"/>\n",
                        key.name, key.type);
}

void GraphMLWriter::openModule(ModuleId id) {
  const htp::Module &module = tree[id];
  os << "<node id=\"m" << id << "\" yfiles.foldertype=\"group\">";
  data("kind", "module");
  data("name", module.path.empty() ? module.className : module.path);
  data("class", module.qualified);
  data("tag", graph.tags()[id]);
  data("scope", module.path);
  os << "\n<graph id=\"m" << id << ":\" edgedefault=\"directed\">\n";
  for (NodeId node : nodes[id])
    writeNode(node);
}

void GraphMLWriter::closeModule(ModuleId id) {
  for (auto [from, to] : edges[id])
    os << "<edge source=\"n" << from << "\" target=\"n" << to << "\"/>\n";
  os << "</graph></node>\n";
}

void GraphMLWriter::writeNode(NodeId id) {
  const TaggedGraph::Node &node = graph.nodes()[id];
  os << "<node id=\"n" << id << "\">";
  data("kind", "op");
  data("name", node.name);
  data("op_type", getOpType(node.op));
  data("domain", getDomain(node.op));
  if (node.tag) {
    data("tag", graph.tags()[node.module]);
    data("scope", tree[node.module].path);
    data("call", Twine(node.tag.getCall()));
    data("evidence", stringifyEvidence(node.tag.getEvidence()));
    data("confidence",
         llvm::formatv("{0:f4}", node.tag.getConfidenceValue()).str());
  }
  os << "</node>\n";
}

/// Opens and closes modules without recursion: a tree may be thousands deep.
void GraphMLWriter::write() {
  collect();
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  writeKeys();
  os << "<graph id=\"model\" edgedefault=\"directed\">\n";
  SmallVector<std::pair<ModuleId, size_t>> open;
  openModule(tree.root());
  open.emplace_back(tree.root(), 0);
  while (!open.empty()) {
    auto &[id, next] = open.back();
    ArrayRef<ModuleId> children = tree.children(id);
    if (next == children.size()) {
      closeModule(id);
      open.pop_back();
      continue;
    }
    ModuleId child = children[next++];
    openModule(child);
    open.emplace_back(child, 0);
  }
  os << "</graph>\n</graphml>\n";
}

LogicalResult htp::writeGraphML(mlir::ModuleOp module, raw_ostream &os) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  GraphMLWriter(**graph, os).write();
  return success();
}
