// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what one run of a model and of its graph showed. Rejects whatever
// docs/formats/executed.schema.json rejects, and references to modules and
// calls that do not exist.

#include "HTP/Trace/Executed.h"

#include "HTP/Hierarchy/TreeJSON.h"

#include "HTP/Hierarchy/JSONReading.h"
#include "HTP/Support/InputFile.h"

using namespace llvm;
using namespace htp::reading;

namespace htp {

namespace {
class Reader {
public:
  explicit Reader(Executed &executed) : executed(executed) {}
  bool read(const JSONValue &value, Path path);

  /// The offending value, if the error message alone does not show it.
  std::string found;

private:
  Executed &executed;

  bool readCall(const JSONValue &value, ExecutedCall &call, Path path);
  bool readModule(const JSONObject &object, ExecutedCall &call, Path path);
};
} // namespace

static bool getNames(const JSONObject &object, StringLiteral key, bool required,
                     std::vector<std::string> &names, Path path) {
  return readList(object, key, required, names, path,
                  [](const JSONValue &value, std::string &name, Path place) {
                    std::optional<StringRef> text = value.getAsString();
                    if (!text || text->empty())
                      return reject(place, "expected the name of a value");
                    name = text->str();
                    return true;
                  });
}

static bool getFlag(const JSONObject &object, StringLiteral key, bool &flag,
                    Path path) {
  if (!object.get(key))
    return true;
  std::optional<bool> value = object.getBoolean(key);
  flag = value.value_or(false);
  return value || reject(path.field(key), "expected true or false");
}

bool Reader::readModule(const JSONObject &object, ExecutedCall &call,
                        Path path) {
  StringRef module;
  if (!getView(object, "module", /*required=*/true, module, path))
    return false;
  std::optional<ModuleId> id = executed.tree.find(module);
  if (!id) {
    found = module.str();
    return reject(path.field("module"), "no module has this path");
  }
  call.module = *id;
  if (!getCalls(object, "call", call.call, path))
    return false;
  if (call.call < executed.tree[*id].calls)
    return true;
  found = std::to_string(call.call);
  return reject(path.field("call"), "the module has fewer calls");
}

bool Reader::readCall(const JSONValue &value, ExecutedCall &call, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object || !readModule(*object, call, path))
    return false;
  if (object->get("parent")) {
    if (!getCount(*object, "parent", /*required=*/true, call.parent, path))
      return false;
    int64_t number = &call - executed.calls.data();
    if (call.parent >= number) {
      found = std::to_string(call.parent);
      return reject(path.field("parent"), "expected an earlier call");
    }
  }
  if (!getNames(*object, "takes", /*required=*/true, call.takes, path) ||
      !getNames(*object, "returns", /*required=*/true, call.returns, path) ||
      !getNames(*object, "near", /*required=*/false, call.near, path) ||
      !getFlag(*object, "open", call.open, path) ||
      !getFlag(*object, "partly", call.partly, path))
    return false;
  for (const auto &[index, name] : enumerate(call.near))
    if (!is_contained(call.returns, name)) {
      found = name;
      return reject(path.field("near").index(index),
                    "the call does not return this value");
    }
  return true;
}

bool Reader::read(const JSONValue &value, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object)
    return false;
  if (object->getString("format") != "htp-executed")
    return reject(path.field("format"), "expected \"htp-executed\"");
  if (object->getInteger("version") != 1)
    return reject(path.field("version"), "expected 1");
  return readTree(*object, /*classesKnown=*/true, executed.tree, path, found) &&
         readList(*object, "calls", /*required=*/true, executed.calls, path,
                  [&](const JSONValue &item, ExecutedCall &call, Path place) {
                    return readCall(item, call, place);
                  }) &&
         getNames(*object, "unclear", /*required=*/true, executed.unclear,
                  path);
}

Expected<Executed> Executed::parse(StringRef text) {
  Expected<JSONDocument> document = parseJSON(text);
  if (!document)
    return document.takeError();
  Executed executed;
  Path::Root root("executed");
  Reader reader(executed);
  if (!reader.read(document->root(), root))
    return errorOf(root, reader.found);
  return executed;
}

Expected<Executed> Executed::load(StringRef path) {
  auto fail = [&](Error error) {
    return createStringError("'" + path + "': " + toString(std::move(error)));
  };
  auto buffer = openInput(path);
  if (!buffer)
    return fail(buffer.takeError());
  Expected<Executed> parsed = parse((*buffer)->getBuffer());
  if (!parsed)
    return fail(parsed.takeError());
  return parsed;
}

} // namespace htp
