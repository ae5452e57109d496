// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON: the `modules` of trace.json, and the model metadata
// `htp.hierarchy` of a tagged file.

#include "HTP/Hierarchy/TreeJSON.h"

#include "JSONReading.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace htp::reading;

namespace htp {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// How deep arrays and objects are nested in `text`.
static unsigned nesting(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return deepest;
}

/// Deeper than any of our formats.
static constexpr unsigned kMaxNesting = 256;

Expected<json::Value> parseJSON(StringRef text) {
  if (unsigned depth = nesting(text); depth > kMaxNesting)
    return createStringError("nested %u levels deep, expected at most %u",
                             depth, kMaxNesting);
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("not JSON: " + toString(value.takeError()));
  return value;
}

static bool readParameter(const json::Value &value, Parameter &parameter,
                          Path path) {
  const json::Object *object = asObject(value, path);
  std::string kind;
  if (!object || !getText(*object, "name", parameter.name, path) ||
      !getText(*object, "kind", kind, path) ||
      !getString(*object, "dtype", true, parameter.dtype, path) ||
      !getHash(*object, "hash", parameter.hash, path) ||
      !getHash(*object, "values_hash", parameter.valuesHash, path) ||
      !getString(*object, "tied", false, parameter.tied, path))
    return false;
  if (kind != "parameter" && kind != "buffer" && kind != "constant")
    return reject(path.field("kind"),
                  "expected \"parameter\", \"buffer\" or \"constant\"");
  parameter.buffer = kind == "buffer";
  parameter.constant = kind == "constant";
  const json::Value *shape = object->get("shape");
  if (!shape)
    return reject(path.field("shape"), "missing, expected array");
  return getShape(*shape, parameter.shape, path.field("shape"));
}

static bool readModule(const json::Value &value, Module &module, Path path) {
  const json::Object *object = asObject(value, path);
  if (!object || !getString(*object, "path", true, module.path, path) ||
      !getString(*object, "class", true, module.className, path) ||
      !getString(*object, "qualified", true, module.qualified, path) ||
      !getCount(*object, "calls", true, module.calls, path))
    return false;
  const json::Value *torchNN = object->get("torch_nn");
  std::optional<bool> flag =
      torchNN ? torchNN->getAsBoolean() : std::optional<bool>();
  if (!flag)
    return reject(path.field("torch_nn"), "expected boolean");
  module.torchNN = *flag;
  if (const json::Value *aliases = object->get("aliases"))
    if (!fromJSON(*aliases, module.aliases, path.field("aliases")))
      return false;
  return readList(*object, "parameters", true, module.parameters, path,
                  readParameter);
}

static bool readClassedModule(const json::Value &value, Module &module,
                              Path path) {
  if (!readModule(value, module, path))
    return false;
  if (module.className.empty())
    return reject(path.field("class"), "expected text, found \"\"");
  return !module.qualified.empty() ||
         reject(path.field("qualified"), "expected text, found \"\"");
}

bool reading::readTree(const json::Object &object, bool classesKnown,
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
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  ModuleTree tree;
  std::string found;
  Path::Root root("hierarchy");
  const json::Object *object = asObject(*value, root);
  if (!object || !readTree(*object, /*classesKnown=*/false, tree, root, found))
    return createStringError(toString(root.getError()) +
                             (found.empty() ? "" : ": " + found));
  return tree;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string hex(uint64_t hash) {
  return utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

static json::Value toJSON(const Parameter &parameter) {
  json::Array shape;
  for (int64_t size : parameter.shape)
    shape.push_back(size == kDynamicSize ? json::Value(nullptr)
                                         : json::Value(size));
  json::Object object{{"name", parameter.name},
                      {"kind", parameter.buffer     ? "buffer"
                               : parameter.constant ? "constant"
                                                    : "parameter"},
                      {"shape", std::move(shape)},
                      {"dtype", parameter.dtype}};
  if (parameter.hash)
    object["hash"] = hex(parameter.hash);
  if (parameter.valuesHash)
    object["values_hash"] = hex(parameter.valuesHash);
  if (!parameter.tied.empty())
    object["tied"] = parameter.tied;
  return object;
}

static json::Value toJSON(const Module &module) {
  json::Object object{{"path", module.path},
                      {"class", module.className},
                      {"qualified", module.qualified},
                      {"torch_nn", module.torchNN},
                      {"calls", module.calls}};
  if (!module.aliases.empty())
    object["aliases"] = json::Array(module.aliases);
  json::Array parameters;
  for (const Parameter &parameter : module.parameters)
    parameters.push_back(toJSON(parameter));
  object["parameters"] = std::move(parameters);
  return object;
}

json::Value treeToJSON(const ModuleTree &tree) {
  json::Array modules;
  for (ModuleId id : tree.ids())
    if (tree[id].canonical == id)
      modules.push_back(toJSON(tree[id]));
  return json::Object{{"version", 1}, {"modules", std::move(modules)}};
}

} // namespace htp
