// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes modules, parameters and statistics as JSON, for all outputs that
// contain them.

#include "HTP/Target/MetadataJSON.h"
#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "llvm/ADT/SetVector.h"

#include <charconv>

using namespace mlir;
using namespace htp;

void htp::writeNumber(double value, llvm::json::OStream &json) {
  char text[32];
  std::to_chars_result result = std::to_chars(text, std::end(text), value);
  json.rawValue(StringRef(text, result.ptr - text));
}

static void writeNumber(StringRef key, double value,
                        llvm::json::OStream &json) {
  json.attributeBegin(key);
  htp::writeNumber(value, json);
  json.attributeEnd();
}

void htp::writeParameter(const Parameter &parameter,
                         llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", validUTF8(parameter.name));
    json.attribute("kind", parameter.buffer ? "buffer" : "parameter");
    json.attributeArray("shape", [&] {
      for (int64_t size : parameter.shape)
        json.value(size);
    });
    json.attribute("dtype", validUTF8(parameter.dtype));
    if (!parameter.tied.empty())
      json.attribute("tied", validUTF8(parameter.tied));
  });
}

void htp::writeModule(const TaggedGraph &graph,
                      const GraphStatistics &statistics, ModuleId id,
                      llvm::json::OStream &json) {
  const htp::Module &module = graph.tree()[id];
  json.attribute("path", validUTF8(module.path));
  json.attribute("class", validUTF8(module.className));
  json.attribute("qualified", validUTF8(module.qualified));
  json.attribute("torch_nn", module.torchNN);
  json.attribute("tag", validUTF8(graph.tags()[id]));
  json.attribute("calls", module.calls);
  json.attribute("nodes", int64_t(statistics.own[id]));
  json.attribute("total_nodes", int64_t(statistics.total[id]));
  if (!module.aliases.empty())
    json.attributeArray("aliases", [&] {
      for (const std::string &alias : module.aliases)
        json.value(validUTF8(alias));
    });
}

/// Writes how well a trace or a reference fits the model, if one was given.
static void writeFit(const TaggedGraph &graph, llvm::json::OStream &json) {
  HierarchyOp hierarchy = findHierarchy(graph.model());
  auto fits =
      hierarchy ? hierarchy->getAttrOfType<ArrayAttr>(kFitAttr) : ArrayAttr();
  if (!fits)
    return;
  json.attributeArray("fit", [&] {
    for (auto figures : fits.getAsRange<DictionaryAttr>())
      json.object([&] {
        for (NamedAttribute figure : figures) {
          StringRef key = figure.getName();
          if (auto text = dyn_cast<StringAttr>(figure.getValue()))
            json.attribute(key, validUTF8(text));
          else if (auto count = dyn_cast<IntegerAttr>(figure.getValue()))
            json.attribute(key, count.getInt());
          else if (auto value = dyn_cast<FloatAttr>(figure.getValue()))
            ::writeNumber(key, value.getValueAsDouble(), json);
        }
      });
  });
}

void htp::writeStatistics(const TaggedGraph &graph,
                          const GraphStatistics &statistics,
                          llvm::json::OStream &json) {
  auto count = [&](StringRef key, size_t value) {
    json.attribute(key, int64_t(value));
  };
  count("nodes", statistics.nodes);
  count("constants", statistics.constants);
  count("initializers", statistics.initializers);
  count("modules", graph.tree().size());
  count("tagged", statistics.tagged);
  ::writeNumber("coverage", statistics.coverage(), json);
  ::writeNumber("confidence", statistics.confidence, json);
  count("shared", statistics.shared);
  count("contested", statistics.contested);
  count("contaminated", statistics.contaminated);
  count("placed", statistics.placed);
  ::writeNumber("placed_share", statistics.placedShare(), json);
  writeFit(graph, json);
  json.attributeObject("evidence", [&] {
    for (auto &[name, kind] : statistics.evidence)
      json.attributeObject(validUTF8(name), [&, &kind = kind] {
        count("nodes", kind.nodes);
        ::writeNumber("confidence", kind.confidence, json);
      });
  });
}

std::optional<SourceLine> htp::sourceOf(Operation *op) {
  std::optional<SourceLine> line;
  for (Location source : findSources(op->getLoc()))
    if (auto known = dyn_cast<FileLineColLoc>(source))
      line = SourceLine{known.getFilename().str(), known.getLine()};
  if (StringAttr stack = line ? StringAttr() : getMetadata(op, kStackTraceKey))
    line = lastSourceLine(stack);
  return line;
}

std::vector<ModuleId> htp::usersOf(const TaggedGraph &graph,
                                   TaggedGraph::ValueRef ref) {
  llvm::SetVector<ModuleId, std::vector<ModuleId>> users;
  auto add = [&](StringRef path) {
    users.insert(graph.module(graph.scope(path, ref.frame)));
  };
  llvm::for_each(taggedReaders(ref.value), add);
  auto possible =
      ref.value.getDefiningOp()->getAttrOfType<ArrayAttr>(kUsersAttr);
  if (users.empty() && possible)
    for (auto path : possible.getAsRange<StringAttr>())
      add(path);
  return users.takeVector();
}

std::optional<ModuleId> htp::ownerOf(const TaggedGraph &graph,
                                     TaggedGraph::ValueRef ref) {
  auto parameter =
      ref.value.getDefiningOp()->getAttrOfType<StringAttr>(kParameterAttr);
  if (!parameter)
    return std::nullopt;
  StringRef path = parameter;
  // A name may have dots itself (ParameterDict, ParameterList).
  if (auto found = graph.tree().findParameter(path))
    return found->module;
  return graph.tree().find(path.contains('.') ? path.rsplit('.').first
                                              : StringRef());
}

bool htp::isContested(TagAttr tag) {
  return llvm::any_of(tag.getContexts(), [](ContextAttr context) {
    return context.getEvidence() != Evidence::Consumer;
  });
}

bool htp::isUnsure(const TaggedGraph::Node &node) {
  return !node.constant &&
         (!node.tag || node.tag.getConfidenceValue() < kSure ||
          isContested(node.tag));
}
