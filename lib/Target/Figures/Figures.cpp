// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the figures of each module alone, adds them up along the tree, and
// then corrects for what several modules share, which counts once above them.

#include "HTP/Target/Figures.h"
#include "Costs.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/MetadataJSON.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace htp;

using Counts = ModuleCosts::Counts;

static void merge(Counts &counts, const Counts &more) {
  for (auto &[key, by] : more)
    counts[key] += by;
}

namespace htp {
class FiguresBuilder {
public:
  FiguresBuilder(const TaggedGraph &graph, Figures &result)
      : graph(graph), tree(graph.tree()), result(result),
        confidences(tree.size()) {}

  void build();

private:
  struct Shared {
    std::vector<ModuleId> users;
    std::function<void(ModuleCosts &)> add;
  };

  void addNodes();
  void addParameters();
  void addWeights();
  void addUp();
  void writeNotes();
  void findKinds();
  template <typename Visit>
  void above(ArrayRef<ModuleId> modules, Visit visit) const;
  StringRef nameOf(Type element);
  NodeCosts costsOf(const TaggedGraph::Node &node) const;
  std::vector<ModuleId> readersOf(TaggedGraph::ValueRef ref) const;

  const TaggedGraph &graph;
  const ModuleTree &tree;
  Figures &result;
  /// For each module, the number of nodes by confidence.
  std::vector<std::map<double, int64_t>> confidences;
  std::vector<Shared> shared;
  llvm::DenseMap<Type, StringRef> elements;
};
} // namespace htp

/// The type of a value where it is defined; null if it is missing.
static Type madeType(const TaggedGraph &graph, Value value, unsigned frame) {
  TaggedGraph::ValueRef ref = graph.resolve({value, frame});
  bool there =
      isa<TensorType>(ref.value.getType()) || !graph.valueName(ref).empty();
  return there ? ref.value.getType() : Type();
}

static std::string textOf(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return "?";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << tensor.getElementType() << '[';
  if (!tensor.hasRank())
    os << "…";
  else
    llvm::interleave(
        tensor.getShape(), os,
        [&](int64_t size) {
          ShapedType::isDynamic(size) ? os << '?' : os << size;
        },
        ",");
  os << ']';
  return text;
}

std::vector<std::string> htp::typesOf(const TaggedGraph &graph,
                                      const TaggedGraph::Node &node) {
  std::vector<std::string> types;
  for (Value value : node.op->getResults())
    if (Type type = madeType(graph, value, node.frame))
      types.push_back(textOf(type));
  return types;
}

/// The name of an element type, such as "f32"; cached.
StringRef FiguresBuilder::nameOf(Type element) {
  StringRef &name = elements[element];
  if (name.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << element;
    name = result.names.try_emplace(text).first->first();
  }
  return name;
}

NodeCosts FiguresBuilder::costsOf(const TaggedGraph::Node &node) const {
  Operator op{getOpType(node.op), getDomain(node.op), {}, {}, node.op};
  for (Value operand : node.op->getOperands())
    op.inputs.push_back(madeType(graph, operand, node.frame));
  NodeCosts costs;
  Amount made = 0;
  for (Value value : node.op->getResults()) {
    Type type = op.outputs.emplace_back(madeType(graph, value, node.frame));
    if (!type)
      continue;
    made = made + bytesOf(type);
  }
  costs.activationBytes = made.known();
  costs.multiplyAdds = multiplyAdds(op);
  return costs;
}

void FiguresBuilder::addNodes() {
  result.nodes.resize(graph.nodes().size());
  for (auto [id, node] : llvm::enumerate(graph.nodes())) {
    if (node.constant)
      continue;
    NodeCosts &costs = result.nodes[id];
    costs = costsOf(node);
    if (!node.tag)
      continue;
    ModuleCosts &module = result.modules[node.module];
    if (costs.multiplyAdds)
      module.multiplyAdds += *costs.multiplyAdds;
    else
      ++module.unknown["multiply_adds"];
    if (costs.activationBytes)
      module.activationBytes += *costs.activationBytes;
    else
      ++module.unknown["activation_bytes"];
    StringRef evidence = stringifyEvidence(node.tag.getEvidence());
    ++module.evidence[evidence.empty() ? "none" : evidence];
    ++confidences[node.module][node.tag.getConfidenceValue()];
  }
}

void FiguresBuilder::addParameters() {
  using Owned = std::pair<int64_t, std::vector<ModuleId>>;
  llvm::MapVector<std::string, Owned, std::map<std::string, unsigned>> all;
  for (ModuleId id : tree.ids())
    for (const Parameter &parameter : tree[id].parameters) {
      if (parameter.buffer)
        continue;
      int64_t size = 1;
      for (int64_t dimension : parameter.shape)
        size *= dimension;
      // A shared module holds its parameters once, whatever its paths.
      StringRef path = tree[tree[id].canonical].path;
      auto &[known, owners] =
          all[parameter.tied.empty() ? joinPath(path, parameter.name)
                                     : parameter.tied];
      known = size;
      owners.push_back(id);
      result.modules[id].parameters += size;
    }
  for (auto &[name, parameter] : all) {
    auto &[size, owners] = parameter;
    auto add = [size = size](ModuleCosts &costs) {
      costs.totalParameters += size;
    };
    if (owners.size() == 1)
      add(result.modules[owners.front()]);
    else
      shared.push_back({owners, add});
  }
}

/// The modules that read a weight. In an outlined model only the call that
/// takes the weight is visible, so use the module that declares it, which is
/// deeper.
std::vector<ModuleId>
FiguresBuilder::readersOf(TaggedGraph::ValueRef ref) const {
  std::vector<ModuleId> users = usersOf(graph, ref);
  std::optional<ModuleId> owner = ownerOf(graph, ref);
  bool hasCalls = llvm::any_of(
      graph.frames(), [](const auto &frame) { return frame.call != nullptr; });
  if (!owner || !hasCalls)
    return users;
  llvm::erase_if(
      users, [&](ModuleId id) { return tree.isAncestorOrSelf(id, *owner); });
  users.insert(users.begin(), *owner);
  return users;
}

void FiguresBuilder::addWeights() {
  for (TaggedGraph::ValueRef ref : graph.initializers()) {
    std::vector<ModuleId> users = readersOf(ref);
    Type type = ref.value.getType();
    std::optional<int64_t> bytes = bytesOf(type);
    StringRef element;
    if (auto tensor = dyn_cast<TensorType>(type))
      element = nameOf(tensor.getElementType());
    auto add = [bytes, element](ModuleCosts &costs) {
      if (bytes)
        costs.totalWeightBytes[element] += *bytes;
      else
        ++costs.unknown["weight_bytes"];
    };
    if (bytes)
      for (ModuleId user : users)
        result.modules[user].weightBytes[element] += *bytes;
    if (users.size() == 1)
      add(result.modules[users.front()]);
    else
      shared.push_back({users, add});
  }
}

static double mean(const std::map<double, int64_t> &counts) {
  long double sum = 0, nodes = 0;
  for (auto [confidence, count] : counts) {
    sum += (long double)confidence * count;
    nodes += count;
  }
  double rounded = 0;
  std::string text = llvm::formatv("{0:f6}", double(sum / nodes)).str();
  StringRef(text).getAsDouble(rounded);
  return rounded;
}

/// Adds children to parents. Parents come first in the tree, so go backwards.
void FiguresBuilder::addUp() {
  for (ModuleId id : llvm::reverse(tree.ids())) {
    ModuleCosts &module = result.modules[id];
    module.totalMultiplyAdds += module.multiplyAdds;
    module.totalActivationBytes += module.activationBytes;
    if (auto &below = confidences[id]; !below.empty()) {
      module.confidence = mean(below);
      module.lowestConfidence = below.begin()->first;
      for (auto [confidence, count] : below)
        module.unsure += confidence < kSure ? count : 0;
    }
    if (id == tree.root())
      continue;
    ModuleCosts &parent = result.modules[tree[id].parent];
    parent.totalParameters += module.totalParameters;
    parent.totalMultiplyAdds += module.totalMultiplyAdds;
    parent.totalActivationBytes += module.totalActivationBytes;
    merge(parent.totalWeightBytes, module.totalWeightBytes);
    merge(parent.unknown, module.unknown);
    merge(parent.evidence, module.evidence);
    for (auto [confidence, count] : confidences[id])
      confidences[tree[id].parent][confidence] += count;
  }
}

/// Visits these modules and all of their ancestors, each once.
template <typename Visit>
void FiguresBuilder::above(ArrayRef<ModuleId> modules, Visit visit) const {
  llvm::DenseSet<ModuleId> seen;
  for (ModuleId id : modules)
    while (seen.insert(id).second) {
      visit(result.modules[id]);
      if (id == tree.root())
        break;
      id = tree[id].parent;
    }
}

void FiguresBuilder::writeNotes() {
  if (llvm::none_of(result.modules,
                    [](const ModuleCosts &costs) { return costs.parameters; }))
    result.notes.push_back("the module tree has no parameters: a trace of the "
                           "PyTorch model brings them");
  int64_t lost = 0, bodies = 0, unknown = 0;
  llvm::MapVector<StringRef, int64_t> kinds;
  for (auto [id, node] : llvm::enumerate(graph.nodes())) {
    if (node.constant)
      continue;
    StringRef type = getOpType(node.op);
    lost += !node.tag;
    bodies += (type == "Loop" || type == "Scan") && getDomain(node.op).empty();
    if (!result.nodes[id].multiplyAdds) {
      ++kinds[type];
      ++unknown;
    }
  }
  if (lost)
    result.notes.push_back(llvm::formatv(
        "{0} nodes without a tag are in no module's figures", lost));
  if (unknown) {
    // The most frequent first; ties in file order.
    std::vector<std::tuple<int64_t, size_t, StringRef>> most;
    for (auto &[kind, count] : kinds)
      most.emplace_back(-count, most.size(), kind);
    llvm::sort(most);
    most.resize(std::min<size_t>(most.size(), 5));
    std::string some;
    for (auto &[count, place, kind] : most)
      some += llvm::formatv("{0}{1} {2}", some.empty() ? "" : ", ", -count,
                            validUTF8(kind));
    result.notes.push_back(llvm::formatv(
        "multiply-adds of {0} nodes are not known ({1}): their sizes are open "
        "(--dim NAME=SIZE), or no table has them",
        unknown, some));
  }
  if (bodies)
    result.notes.push_back(
        llvm::formatv("bodies of {0} loops count as if they ran once", bodies));
}

static std::string nameBelow(const ModuleTree &tree, ModuleId above,
                             ModuleId id) {
  StringRef path = tree[id].path;
  if (path.consume_front(tree[above].path))
    path.consume_front(".");
  return path.str();
}

/// Two modules are of one kind if their classes, operations, parameters and
/// submodules are equal. Submodules are visited first.
void FiguresBuilder::findKinds() {
  std::vector<NamedCounts> counts(tree.size());
  for (const TaggedGraph::Node &node : graph.nodes())
    if (node.tag && !node.constant)
      ++counts[node.module][getOpType(node.op)];
  llvm::StringMap<unsigned> known;
  std::vector<unsigned> &kinds = result.kinds;
  kinds.resize(tree.size());
  for (ModuleId id : llvm::reverse(tree.ids())) {
    std::string key;
    auto number = [&](int64_t value) {
      key.append(reinterpret_cast<const char *>(&value), sizeof(value));
    };
    // Prefix the length, so that concatenated names are unambiguous.
    auto text = [&](StringRef value) {
      number(value.size());
      key += value;
    };
    text(tree[id].className);
    number(tree[id].calls);
    SmallVector<std::pair<StringRef, int64_t>> ops(counts[id].begin(),
                                                   counts[id].end());
    llvm::sort(ops);
    number(ops.size());
    for (auto &[type, count] : ops) {
      text(type);
      number(count);
    }
    number(tree[id].parameters.size());
    for (const Parameter &parameter : tree[id].parameters) {
      text(parameter.name);
      number(parameter.buffer);
      text(parameter.dtype);
      number(parameter.shape.size());
      for (int64_t size : parameter.shape)
        number(size);
    }
    for (ModuleId child : tree.children(id)) {
      text(nameBelow(tree, id, child));
      number(kinds[child]);
    }
    kinds[id] = known.try_emplace(key, known.size()).first->second;
  }
}

void FiguresBuilder::build() {
  result.modules.resize(tree.size());
  addNodes();
  addParameters();
  addWeights();
  addUp();
  for (const Shared &each : shared)
    above(each.users, each.add);
  writeNotes();
  findKinds();
}

Figures::Figures(const TaggedGraph &graph) {
  FiguresBuilder(graph, *this).build();
}

/// Without `whole`, values that are 0, empty or unknown are left out, which are
/// most values of most modules.
static void writeCosts(const ModuleCosts &costs, bool whole,
                       llvm::json::OStream &json) {
  auto counts = [&](StringRef key, const Counts &all) {
    if (whole || !all.empty())
      json.attributeObject(key, [&] {
        for (auto &[name, count] : all)
          json.attribute(name, count);
      });
  };
  auto count = [&](StringRef key, int64_t value) {
    if (whole || value)
      json.attribute(key, value);
  };
  auto number = [&](StringRef key, std::optional<double> value) {
    if (!whole && !value)
      return;
    json.attributeBegin(key);
    value ? writeNumber(*value, json) : json.value(nullptr);
    json.attributeEnd();
  };
  count("parameters", costs.parameters);
  count("total_parameters", costs.totalParameters);
  counts("weight_bytes", costs.weightBytes);
  counts("total_weight_bytes", costs.totalWeightBytes);
  count("activation_bytes", costs.activationBytes);
  count("total_activation_bytes", costs.totalActivationBytes);
  count("multiply_adds", costs.multiplyAdds);
  count("total_multiply_adds", costs.totalMultiplyAdds);
  counts("unknown", costs.unknown);
  number("confidence", costs.confidence);
  number("lowest_confidence", costs.lowestConfidence);
  count("unsure", costs.unsure);
  counts("evidence", costs.evidence);
}

void Figures::writeModule(ModuleId id, bool whole,
                          llvm::json::OStream &json) const {
  json.attributeObject("costs", [&] { writeCosts(modules[id], whole, json); });
  json.attribute("kind", kinds[id]);
}

static void writeNode(const NodeCosts &costs, ArrayRef<std::string> types,
                      llvm::json::OStream &json) {
  auto amount = [&](StringRef key, std::optional<int64_t> known) {
    json.attributeBegin(key);
    known ? json.value(*known) : json.value(nullptr);
    json.attributeEnd();
  };
  amount("multiply_adds", costs.multiplyAdds);
  amount("activation_bytes", costs.activationBytes);
  json.attributeArray("types", [&] {
    for (const std::string &type : types)
      json.value(type);
  });
}

LogicalResult htp::writeFigures(mlir::ModuleOp module, raw_ostream &os) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  Figures figures(**graph);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("format", "htp-op-figures");
    json.attribute("version", 1);
    json.attributeArray("notes", [&] {
      for (const std::string &note : figures.notes)
        json.value(note);
    });
    json.attributeArray("modules", [&] {
      for (ModuleId id : (*graph)->tree().ids())
        json.object([&] { figures.writeModule(id, /*whole=*/false, json); });
    });
    json.attributeObject("nodes", [&] {
      for (auto [id, node] : llvm::enumerate((*graph)->nodes()))
        if (!node.constant)
          json.attributeObject(node.name, [&, id = id, &node = node] {
            writeNode(figures.nodes[id], typesOf(**graph, node), json);
          });
    });
  });
  json.flush();
  os << '\n';
  return success();
}
