// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON: the `modules` of trace.json, and the model metadata
// `htp.hierarchy` of a tagged file.

#include "HTP/Hierarchy/TreeJSON.h"

#include "HTP/Hierarchy/JSONReading.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace htp::reading;

namespace htp {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// More than any of HTP's formats needs.
static constexpr unsigned kMaxNesting = 256;

Expected<JSONDocument> parseJSON(StringRef text) {
  return JSONDocument::parse(text, kMaxNesting);
}

static bool readParameter(const JSONValue &value, Parameter &parameter,
                          Path path) {
  const JSONObject *object = asObject(value, path);
  StringRef kind;
  if (!object || !getText(*object, "name", parameter.name, path) ||
      !getView(*object, "kind", true, kind, path) ||
      !getString(*object, "dtype", true, parameter.dtype, path) ||
      !getHash(*object, "hash", parameter.hash, path) ||
      !getHash(*object, "values_hash", parameter.valuesHash, path) ||
      !getString(*object, "sketch", false, parameter.sketch, path) ||
      !getString(*object, "tied", false, parameter.tied, path))
    return false;
  if (kind != "parameter" && kind != "buffer" && kind != "constant")
    return reject(path.field("kind"),
                  "expected \"parameter\", \"buffer\" or \"constant\"");
  parameter.buffer = kind == "buffer";
  parameter.constant = kind == "constant";
  const JSONValue *shape = object->get("shape");
  if (!shape)
    return reject(path.field("shape"), "missing, expected array");
  return getShape(*shape, parameter.shape, path.field("shape"));
}

static bool readModule(const JSONValue &value, Module &module, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object || !getString(*object, "path", true, module.path, path) ||
      !getString(*object, "class", true, module.className, path) ||
      !getString(*object, "qualified", true, module.qualified, path) ||
      !getCalls(*object, "calls", module.calls, path))
    return false;
  const JSONValue *torchNN = object->get("torch_nn");
  std::optional<bool> flag =
      torchNN ? torchNN->getAsBoolean() : std::optional<bool>();
  if (!flag)
    return reject(path.field("torch_nn"), "expected boolean");
  module.torchNN = *flag;
  auto readAlias = [](const JSONValue &alias, std::string &text, Path at) {
    std::optional<StringRef> found = alias.getAsString();
    text = found.value_or("").str();
    return found || reject(at, "expected string");
  };
  if (!readList(*object, "aliases", false, module.aliases, path, readAlias))
    return false;
  return readList(*object, "parameters", true, module.parameters, path,
                  readParameter);
}

static bool readClassedModule(const JSONValue &value, Module &module,
                              Path path) {
  if (!readModule(value, module, path))
    return false;
  if (module.className.empty())
    return reject(path.field("class"), "expected text, found \"\"");
  return !module.qualified.empty() ||
         reject(path.field("qualified"), "expected text, found \"\"");
}

bool reading::readProducer(const JSONValue &value, Producer &producer,
                           Path path) {
  const JSONObject *object = asObject(value, path);
  return object && getString(*object, "name", true, producer.name, path) &&
         getString(*object, "source", false, producer.source, path) &&
         getString(*object, "exporter", false, producer.exporter, path) &&
         getString(*object, "fallback", false, producer.fallback, path);
}

bool reading::readTree(const JSONObject &object, bool classesKnown,
                       ModuleTree &tree, Path path, std::string &found) {
  std::vector<Module> modules;
  if (!readList(object, "modules", true, modules, path,
                classesKnown ? readClassedModule : readModule))
    return false;
  Expected<ModuleTree> read = ModuleTree::create(std::move(modules));
  if (!read) {
    found = toString(read.takeError());
    return reject(path.field("modules"), "not a tree");
  }
  tree = std::move(*read);
  return true;
}

Expected<ModuleTree> treeFromJSON(StringRef text) {
  Expected<JSONDocument> document = parseJSON(text);
  if (!document)
    return document.takeError();
  ModuleTree tree;
  std::string found;
  Path::Root root("hierarchy");
  const JSONObject *object = asObject(document->root(), root);
  if (!object || !readTree(*object, /*classesKnown=*/false, tree, root, found))
    return createStringError(toString(root.getError()) +
                             (found.empty() ? "" : ": " + found));
  Producer producer;
  if (const JSONValue *field = object->get("producer")) {
    if (!readProducer(*field, producer, Path(root).field("producer")))
      return root.getError();
    tree.setProducer(std::move(producer));
  }
  return tree;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

// Keys are written in sorted order, like those of an llvm::json::Object.

static std::string hex(uint64_t hash) {
  return utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

static void write(const Parameter &parameter, json::OStream &json) {
  json.attribute("dtype", parameter.dtype);
  if (parameter.hash)
    json.attribute("hash", hex(parameter.hash));
  json.attribute("kind", parameter.buffer     ? "buffer"
                         : parameter.constant ? "constant"
                                              : "parameter");
  json.attribute("name", parameter.name);
  json.attributeArray("shape", [&] {
    for (int64_t size : parameter.shape)
      json.value(size == kDynamicSize ? json::Value(nullptr)
                                      : json::Value(size));
  });
  if (!parameter.tied.empty())
    json.attribute("tied", parameter.tied);
  if (parameter.valuesHash)
    json.attribute("values_hash", hex(parameter.valuesHash));
}

static void write(const Module &module, json::OStream &json) {
  if (!module.aliases.empty())
    json.attributeArray("aliases", [&] {
      for (const std::string &alias : module.aliases)
        json.value(alias);
    });
  json.attribute("calls", module.calls);
  json.attribute("class", module.className);
  json.attributeArray("parameters", [&] {
    for (const Parameter &parameter : module.parameters)
      json.object([&] { write(parameter, json); });
  });
  json.attribute("path", module.path);
  json.attribute("qualified", module.qualified);
  json.attribute("torch_nn", module.torchNN);
}

void writeProducer(const Producer &producer, json::OStream &json) {
  auto write = [&](StringRef key, StringRef text) {
    if (!text.empty())
      json.attribute(key, json::fixUTF8(text));
  };
  write("exporter", producer.exporter);
  write("fallback", producer.fallback);
  json.attribute("name", json::fixUTF8(producer.name));
  write("source", producer.source);
}

std::string treeToJSON(const ModuleTree &tree) {
  std::string text;
  raw_string_ostream os(text);
  // json::OStream writes strings character by character.
  os.SetBufferSize(4096);
  json::OStream json(os);
  json.object([&] {
    json.attributeArray("modules", [&] {
      for (ModuleId id : tree.ids())
        if (tree[id].canonical == id)
          json.object([&] { write(tree[id], json); });
    });
    if (!tree.getProducer().empty())
      json.attributeObject("producer",
                           [&] { writeProducer(tree.getProducer(), json); });
    json.attribute("version", 1);
  });
  os.flush();
  return text;
}

} // namespace htp
