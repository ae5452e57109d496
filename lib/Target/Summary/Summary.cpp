// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the summary as aligned tables.

#include "HTP/Target/Summary.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace htp;
using llvm::formatv;
using llvm::WithColor;

namespace {
/// A table with columns as wide as their widest cell: the first column is text,
/// aligned left; the others are numbers, aligned right.
class Table {
public:
  Table(std::initializer_list<std::string> heads) : rows{heads} {}

  void add(std::initializer_list<std::string> cells) {
    rows.emplace_back(cells);
  }

  void print(raw_ostream &os) const {
    std::vector<int> widths(rows.front().size());
    for (const std::vector<std::string> &row : rows)
      for (auto [width, cell] : llvm::zip(widths, row))
        width = std::max(width, columns(cell));
    for (auto [line, row] : llvm::enumerate(rows)) {
      WithColor colour(os, line ? raw_ostream::RESET : raw_ostream::SAVEDCOLOR,
                       /*Bold=*/!line);
      for (auto [column, cell] : llvm::enumerate(row)) {
        int gap = widths[column] - columns(cell);
        if (column)
          colour.get().indent(2 + gap) << cell;
        else
          colour << "  " << cell << std::string(gap, ' ');
      }
      colour << '\n';
    }
  }

private:
  /// The width in terminal columns rather than bytes; names may hold any
  /// character.
  static int columns(StringRef text) {
    int width = llvm::sys::unicode::columnWidthUTF8(text);
    return width < 0 ? int(text.size()) : width;
  }

  std::vector<std::vector<std::string>> rows;
};
} // namespace

/// Replaces control characters, so that a name stays on one line.
static std::string oneLine(StringRef text) {
  std::string line;
  for (char c : validUTF8(text))
    if (uint8_t(c) < 0x20 || c == 0x7F)
      line += formatv("\\x{0:X-2}", uint8_t(c));
    else
      line += c;
  return line;
}

/// "1 constant", "2 constants".
static std::string count(size_t number, StringRef what) {
  return formatv("{0} {1}{2}", number, what, number == 1 ? "" : "s");
}

static std::string percent(double share) {
  return formatv("{0:f1} %", 100 * share);
}

/// Prints how well a trace or a reference fits, if one was given.
static void printFit(const TaggedGraph &graph, raw_ostream &os) {
  HierarchyOp hierarchy = findHierarchy(graph.model());
  auto fits =
      hierarchy ? hierarchy->getAttrOfType<ArrayAttr>(kFitAttr) : ArrayAttr();
  if (!fits)
    return;
  for (auto figures : fits.getAsRange<DictionaryAttr>()) {
    auto count = [&](StringRef key) {
      auto value = figures.getAs<IntegerAttr>(key);
      return value ? value.getInt() : 0;
    };
    auto text = [&](StringRef key) {
      auto value = figures.getAs<StringAttr>(key);
      return value ? value.getValue() : StringRef();
    };
    auto number = [&](StringRef key) {
      auto value = figures.getAs<FloatAttr>(key);
      return value ? value.getValueAsDouble() : 0.0;
    };
    os << formatv("  {0,-14}{1}: {2} of {3} parameters found, {4} of {5} nodes "
                  "explained, likelihood {6:f2} (about {7:f1} where it fits)\n",
                  text("source"), text("verdict"), count("parameters_found"),
                  count("parameters"), count("nodes_explained"), count("nodes"),
                  number("likelihood"), number("likelihood_of_fitting"));
  }
}

static void printTotals(const TaggedGraph &graph,
                        const GraphStatistics &statistics, raw_ostream &os) {
  auto line = [&](StringRef name, const Twine &value) {
    os << formatv("  {0,-14}", name) << value << '\n';
  };
  const htp::Module &root = graph.tree()[ModuleTree::root()];
  WithColor(os, raw_ostream::SAVEDCOLOR, /*Bold=*/true)
      << (root.className.empty() ? "model" : oneLine(root.className)) << '\n';
  line("modules", Twine(graph.tree().size()));
  line("operations", Twine(statistics.nodes) + " (" +
                         count(statistics.constants, "constant") + ")");
  line("initializers", Twine(statistics.initializers));
  if (statistics.calls)
    line("functions", Twine(statistics.functions) + ", called " +
                          count(statistics.calls, "time"));
  os << formatv("  {0,-14}", "coverage");
  WithColor(os, statistics.tagged == statistics.nodes ? raw_ostream::GREEN
                                                      : raw_ostream::RED)
      << percent(statistics.coverage());
  os << " (" << statistics.tagged << " of " << statistics.nodes << ")\n";
  os << formatv("  {0,-14}", "placed");
  WithColor(os, statistics.placedShare() > 0.5 ? raw_ostream::GREEN
                                               : raw_ostream::RED)
      << percent(statistics.placedShare());
  os << " (" << statistics.placed << " of " << statistics.nodes
     << " in a module below the root)\n";
  printFit(graph, os);
  line("confidence",
       formatv("{0:f3}", statistics.confidence).str() + " on average");
  line("shared", Twine(statistics.shared) + " used by several modules");
  line("contested",
       Twine(statistics.contested) + " with evidence for other modules, too");
  os << formatv("  {0,-14}", "contaminated");
  WithColor(os, statistics.contaminated ? raw_ostream::RED : raw_ostream::GREEN)
      << statistics.contaminated;
  os << " tagged with another layer than their names say\n";
}

/// One row for every module with a tag of its own, drawn as a tree: a module's
/// tag consists of the names on the way from the root, joined by slashes.
static Table moduleTable(const TaggedGraph &graph,
                         const GraphStatistics &statistics) {
  const ModuleTree &tree = graph.tree();
  const TagNames &tags = graph.tags();
  std::vector<SmallVector<ModuleId>> children(tree.size());
  // Nodes of a torch.nn module count for the module whose tag it has.
  std::vector<size_t> own(tree.size());
  for (ModuleId id : tree.ids()) {
    if (tree[id].canonical == id)
      own[tags.taggedModule(id)] += statistics.own[id];
    if (tags.taggedModule(id) == id && id != ModuleTree::root())
      children[tags.taggedModule(tree[id].parent)].push_back(id);
  }

  struct Row {
    ModuleId id;
    std::string branch, below; // prefix of its name, and of the rows below it
  };
  Table table = {"module", "calls", "own", "all"};
  SmallVector<Row> rows = {{ModuleTree::root(), "", ""}};
  while (!rows.empty()) {
    Row row = rows.pop_back_val();
    table.add({row.branch + oneLine(tags[row.id].rsplit('/').second),
               std::to_string(tree[row.id].calls), std::to_string(own[row.id]),
               std::to_string(statistics.total[row.id])});
    bool last = true;
    for (ModuleId child : llvm::reverse(children[row.id])) {
      rows.push_back({child, row.below + (last ? "└─ " : "├─ "),
                      row.below + (last ? "   " : "│  ")});
      last = false;
    }
  }
  return table;
}

LogicalResult htp::writeSummary(mlir::ModuleOp module, raw_ostream &os) {
  FailureOr<std::unique_ptr<TaggedGraph>> created = TaggedGraph::create(module);
  if (failed(created))
    return failure();
  const TaggedGraph &graph = **created;
  GraphStatistics statistics(graph);
  printTotals(graph, statistics, os);

  Table evidence = {"evidence", "operations", "share", "confidence"};
  for (auto &[name, kind] : statistics.evidence)
    evidence.add({name.empty() ? "none" : oneLine(name),
                  std::to_string(kind.nodes),
                  percent(double(kind.nodes) / statistics.tagged),
                  formatv("{0:f3}", kind.confidence)});
  os << '\n';
  evidence.print(os);

  os << '\n';
  moduleTable(graph, statistics).print(os);
  return success();
}
