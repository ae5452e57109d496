// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Contents.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Target/MetadataJSON.h"
#include "HTP/Target/WorkJSON.h"

using namespace mlir;
using namespace htp;

ModuleContents::ModuleContents(const TaggedGraph &graph) : graph(graph) {
  for (const TaggedGraph::Node &node : graph.nodes()) {
    if (node.constant)
      continue;
    unsigned kind = kindOf(node);
    Group group(-1, kind, -1, 0.0, false);
    if (node.tag)
      group = Group(node.module, kind, int64_t(node.tag.getEvidence()),
                    node.tag.getConfidenceValue(), isContested(node.tag));
    ++groups[group];
  }
  for (TaggedGraph::ValueRef ref : graph.initializers()) {
    const void *type = ref.value.getType().getAsOpaquePointer();
    std::optional<ModuleId> owner = ownerOf(graph, ref);
    ++weights[Weight(usersOf(graph, ref), owner ? int64_t(*owner) : -1, type)];
  }
}

/// Operations are of a kind where operator, types and what attributes say about
/// the work are equal. Attributes and types are compared by identity, which
/// MLIR gives them.
unsigned ModuleContents::kindOf(const TaggedGraph::Node &node) {
  std::string key = (getOpType(node.op) + "\n" + getDomain(node.op)).str();
  auto add = [&](const void *part) {
    key.append(reinterpret_cast<const char *>(&part), sizeof(part));
  };
  auto addValues = [&](ValueRange values) {
    key += '\0';
    for (Value value : values)
      add(typeOf({value, node.frame}).getAsOpaquePointer());
  };
  addValues(node.op->getOperands());
  addValues(node.op->getResults());
  for (NamedAttribute named : node.op->getAttrs())
    if (isTelling(named)) {
      add(named.getName().getAsOpaquePointer());
      add(named.getValue().getAsOpaquePointer());
    }
  auto [place, isNew] = numbers.try_emplace(key, kinds.size());
  if (isNew)
    kinds.push_back(&node);
  return place->second;
}

/// The type of a value where it is made; null where it is missing.
Type ModuleContents::typeOf(TaggedGraph::ValueRef ref) const {
  ref = graph.resolve(ref);
  bool there =
      isa<TensorType>(ref.value.getType()) || !graph.valueName(ref).empty();
  return there ? ref.value.getType() : Type();
}

void ModuleContents::write(llvm::json::OStream &json) const {
  json.attributeArray("kinds", [&] {
    for (const TaggedGraph::Node *node : kinds)
      json.object([&] { writeKind(*node, json); });
  });
  json.attributeArray("operations", [&] {
    for (const auto &[group, count] : groups)
      json.array([&, &group = group, &count = count] {
        auto [module, kind, evidence, confidence, contested] = group;
        bool tagged = module >= 0;
        tagged ? json.value(module) : json.value(nullptr);
        json.value(kind);
        json.value(tagged ? stringifyEvidence(Evidence(evidence)) : "");
        writeNumber(confidence, json);
        json.value(contested);
        json.value(count);
      });
  });
  json.attributeArray("weights", [&] {
    for (const auto &[weight, count] : weights)
      json.array([&, &weight = weight, &count = count] {
        writeWeight(weight, count, json);
      });
  });
}

void ModuleContents::writeKind(const TaggedGraph::Node &node,
                               llvm::json::OStream &json) const {
  json.attribute("op_type", validUTF8(getOpType(node.op)));
  json.attribute("domain", validUTF8(getDomain(node.op)));
  auto writeTypes = [&](StringRef key, ValueRange values) {
    json.attributeArray(key, [&] {
      for (Value value : values)
        writeType(typeOf({value, node.frame}), json);
    });
  };
  writeTypes("inputs", node.op->getOperands());
  writeTypes("outputs", node.op->getResults());
  json.attributeObject("attributes", [&] {
    for (NamedAttribute named : node.op->getAttrs())
      if (isTelling(named))
        writeTelling(named, json);
  });
}

/// null for what is missing, `[]` for what is no tensor, else its type.
void ModuleContents::writeType(Type type, llvm::json::OStream &json) const {
  if (!type)
    return json.value(nullptr);
  json.array([&] {
    if (auto tensor = dyn_cast<TensorType>(type))
      writeTensorType(tensor, json);
  });
}

void ModuleContents::writeWeight(const Weight &weight, int64_t count,
                                 llvm::json::OStream &json) const {
  const auto &[users, owner, type] = weight;
  json.array([&, &users = users] {
    for (ModuleId user : users)
      json.value(user);
  });
  owner < 0 ? json.value(nullptr) : json.value(owner);
  writeType(Type::getFromOpaquePointer(type), json);
  json.value(count);
}
