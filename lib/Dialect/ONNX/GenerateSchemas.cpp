// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A build-time tool that writes Schemas.inc: what the dialect has to know about
// every operator before any is used. Asking the ONNX library at run time would
// create all schemas in all versions, which takes longer than tagging a small
// model.

#include "onnx/defs/schema.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

using onnx::OpSchema;
using Names = std::vector<std::string>;

namespace {
/// The lists of names of all schemas, deduplicated into one array.
class NameTable {
public:
  /// Adds a list and returns a C++ expression for it.
  std::string add(const Names &list) {
    if (list.empty())
      return "{}";
    auto [it, isNew] = places.try_emplace(list, names.size());
    if (isNew)
      names.insert(names.end(), list.begin(), list.end());
    return "{kNames + " + std::to_string(it->second) + ", " +
           std::to_string(list.size()) + "}";
  }
  void write(std::ostream &os) const {
    os << "static constexpr llvm::StringRef kNames[] = {\n";
    for (const std::string &name : names)
      os << "    \"" << name << "\",\n";
    os << "};\n";
  }

private:
  std::map<Names, size_t> places;
  Names names;
};
} // namespace

/// The name of ONNX's C++ class for a schema: `Add_Onnx_ver14`.
static std::string className(const OpSchema &schema) {
  static const std::map<std::string, std::string> domains = {
      {"", "Onnx"},
      {"ai.onnx.ml", "OnnxML"},
      {"ai.onnx.preview", "OnnxPreview"},
      {"ai.onnx.preview.training", "OnnxPreview"}};
  return "::onnx::" + schema.Name() + "_" + domains.at(schema.domain()) +
         "_ver" + std::to_string(schema.SinceVersion());
}

static std::string entry(const OpSchema &schema, NameTable &table) {
  Names attributes, graphs, required;
  for (const auto &[name, attribute] : schema.attributes()) {
    bool isGraph = attribute.type == onnx::AttributeProto::GRAPH;
    (isGraph ? graphs : attributes).push_back(name);
    if (attribute.required)
      required.push_back(name);
  }
  bool isRandom = schema.GetNodeDeterminism() ==
                  OpSchema::NodeDeterminism::NonDeterministic;
  return "    {\"" + schema.Name() + "\", \"" + schema.domain() + "\", " +
         std::to_string(schema.SinceVersion()) + ", &::onnx::GetOpSchema<" +
         className(schema) + ">, " + (isRandom ? "true" : "false") +
         ",\n     " + table.add(attributes) + ", " + table.add(graphs) + ", " +
         table.add(required) + "},\n";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " Schemas.inc\n";
    return 2;
  }
  std::vector<OpSchema> schemas =
      onnx::OpSchemaRegistry::get_all_schemas_with_history();
  auto key = [](const OpSchema &schema) {
    return std::make_tuple(schema.Name(), schema.domain(),
                           schema.SinceVersion());
  };
  std::sort(
      schemas.begin(), schemas.end(),
      [&](const OpSchema &a, const OpSchema &b) { return key(a) < key(b); });
  NameTable table;
  std::string entries;
  for (const OpSchema &schema : schemas)
    entries += entry(schema, table);
  std::ofstream os(argv[1]);
  os << "// Made by GenerateSchemas.cpp.\n";
  table.write(os);
  os << "static constexpr SchemaEntry kSchemas[] = {\n" << entries << "};\n";
  os.close();
  return os ? 0 : 1;
}
