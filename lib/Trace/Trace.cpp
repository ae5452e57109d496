// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads trace.json. Rejects whatever docs/formats/trace.schema.json rejects,
// and references to modules, parameters and values that do not exist.

#include "HTP/Trace/Trace.h"

#include "HTP/Hierarchy/TreeJSON.h"

#include "HTP/Hierarchy/JSONReading.h"

#include "llvm/ADT/DenseSet.h"

using namespace llvm;
using namespace htp::reading;

namespace htp {

namespace {
/// Reads a trace part by part and keeps track of what has been defined so far.
class Reader {
public:
  explicit Reader(Trace &trace) : trace(trace) {}
  bool read(const JSONValue &value, Path path);

  /// The offending value, if the error message alone does not show it.
  std::string found;

private:
  Trace &trace;
  Producer producer;
  DenseSet<TraceValueId> defined;

  /// Reports an error and the offending value. Path takes only literals, so the
  /// value is kept separately.
  bool fail(Path path, StringLiteral message, const Twine &what) {
    path.report(message);
    found = what.str();
    return false;
  }

  bool readHeader(const JSONObject &object, Path path);
  bool readValue(const JSONValue &value, TraceValue &result, Path path);
  bool readArgument(const JSONValue &value, TraceArgument &result, Path path);
  bool readOp(const JSONValue &value, TraceOp &op, Path path);
  bool readSource(const JSONValue &value, TraceOp &op, Path path);
  bool readBlock(const JSONValue &value, TraceBlock &block, Path path);

  /// Reads a list with a member function for its elements.
  template <typename T>
  bool readAll(const JSONObject &object, StringLiteral key, bool required,
               std::vector<T> &list, Path path,
               bool (Reader::*readOne)(const JSONValue &, T &, Path)) {
    return readList(object, key, required, list, path,
                    [&](const JSONValue &value, T &result, Path at) {
                      return (this->*readOne)(value, result, at);
                    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

bool Reader::read(const JSONValue &value, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object || !readHeader(*object, path))
    return false;
  if (!readTree(*object, /*classesKnown=*/true, trace.tree, path, found))
    return false;
  trace.tree.setProducer(std::move(producer));
  return readAll(*object, "inputs", true, trace.inputs, path,
                 &Reader::readValue) &&
         readAll(*object, "ops", true, trace.ops, path, &Reader::readOp) &&
         readAll(*object, "outputs", true, trace.outputs, path,
                 &Reader::readArgument);
}

bool Reader::readHeader(const JSONObject &object, Path path) {
  std::string format;
  int64_t version = 0;
  if (!getString(object, "format", true, format, path))
    return false;
  if (format != "htp-trace")
    return fail(path.field("format"), "expected \"htp-trace\"", format);
  if (!getCount(object, "version", true, version, path))
    return false;
  if (version != 1)
    return fail(path.field("version"), "this program reads version 1",
                Twine(version));
  const JSONValue *field = object.get("producer");
  return !field || readProducer(*field, producer, path.field("producer"));
}

bool Reader::readValue(const JSONValue &value, TraceValue &result, Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object || !getCount(*object, "value", true, result.value, path) ||
      !getString(*object, "name", false, result.name, path) ||
      !getString(*object, "dtype", false, result.dtype, path))
    return false;
  if (!defined.insert(result.value).second)
    return fail(path.field("value"), "value is made twice",
                Twine(result.value));
  const JSONValue *shape = object->get("shape");
  if (!shape)
    return true;
  return getShape(*shape, result.shape.emplace(), path.field("shape"));
}

bool Reader::readArgument(const JSONValue &value, TraceArgument &result,
                          Path path) {
  const JSONObject *object = asObject(value, path);
  if (!object)
    return false;
  const JSONValue *number = object->get("value"),
                  *parameter = object->get("parameter"),
                  *constant = object->get("constant"),
                  *list = object->get("list");
  if (bool(number) + bool(parameter) + bool(constant) + bool(list) != 1)
    return reject(path, "expected one of value, parameter, constant and list");
  if (number) {
    result.kind = TraceArgument::Kind::Value;
    if (!getCount(*number, result.value, path.field("value")))
      return false;
    return defined.contains(result.value) ||
           fail(path.field("value"), "value is used before it is made",
                Twine(result.value));
  }
  if (parameter) {
    result.kind = TraceArgument::Kind::Parameter;
    if (!getText(*object, "parameter", result.parameter, path))
      return false;
    auto found = trace.tree.findParameter(result.parameter);
    if (!found)
      return fail(path.field("parameter"), "no module has this parameter",
                  result.parameter);
    // Use the canonical name.
    result.parameter =
        joinPath(trace.tree[found->module].path, found->parameter->name);
    return true;
  }
  if (list) {
    result.kind = TraceArgument::Kind::List;
    return readAll(*object, "list", true, result.list, path,
                   &Reader::readArgument);
  }
  if (constant->getAsArray() || constant->getAsObject())
    return reject(path.field("constant"),
                  "expected null, boolean, number or string");
  result.kind = TraceArgument::Kind::Constant;
  result.constant = constant->copy();
  return true;
}

bool Reader::readOp(const JSONValue &value, TraceOp &op, Path path) {
  const JSONObject *object = asObject(value, path);
  StringRef module;
  if (!object || !getText(*object, "kind", op.kind, path) ||
      !getView(*object, "module", true, module, path) ||
      !getCalls(*object, "call", op.call, path) ||
      !readAll(*object, "inputs", true, op.inputs, path,
               &Reader::readArgument) ||
      !readAll(*object, "blocks", false, op.blocks, path, &Reader::readBlock) ||
      !readAll(*object, "outputs", true, op.outputs, path, &Reader::readValue))
    return false;
  std::optional<ModuleId> id = trace.tree.resolve(module);
  if (!id)
    return fail(path.field("module"), "no module has this path", module);
  op.module = *id;
  const JSONValue *source = object->get("source");
  return !source || readSource(*source, op, path.field("source"));
}

bool Reader::readSource(const JSONValue &value, TraceOp &op, Path path) {
  const JSONObject *object = asObject(value, path);
  return object && getString(*object, "file", true, op.file, path) &&
         getCount(*object, "line", true, op.line, path);
}

bool Reader::readBlock(const JSONValue &value, TraceBlock &block, Path path) {
  const JSONObject *object = asObject(value, path);
  return object &&
         readAll(*object, "inputs", true, block.inputs, path,
                 &Reader::readValue) &&
         readAll(*object, "ops", true, block.ops, path, &Reader::readOp) &&
         readAll(*object, "outputs", true, block.outputs, path,
                 &Reader::readArgument);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The single module within `around` that owns all parameters that an op reads.
static std::optional<ModuleId> ownerWithin(const Trace &trace,
                                           const TraceOp &op, ModuleId around) {
  std::optional<ModuleId> owner;
  bool several = false;
  forEachArgument(op.inputs, [&](const TraceArgument &argument) {
    if (argument.kind != TraceArgument::Kind::Parameter)
      return;
    auto found = trace.tree.findParameter(argument.parameter);
    ModuleId module = found ? trace.tree[found->module].canonical : around;
    several |= owner && *owner != module;
    owner = module;
  });
  if (!owner || several || *owner == around ||
      !trace.tree.isAncestorOrSelf(around, *owner))
    return std::nullopt;
  return owner;
}

/// In bodies of control flow PyTorch may lose track of modules, and then
/// attributes all ops to the enclosing module. Moves ops that read the
/// parameters of a nested module to that module.
static void placeBodies(Trace &trace, std::vector<TraceOp> &ops,
                        const TraceOp *around) {
  for (TraceOp &op : ops) {
    if (around && op.module == around->module)
      if (auto owner = ownerWithin(trace, op, op.module)) {
        op.module = *owner;
        op.call = 0;
      }
    for (TraceBlock &block : op.blocks)
      placeBodies(trace, block.ops, &op);
  }
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

Expected<Trace> Trace::parse(StringRef text) {
  Expected<JSONDocument> document = parseJSON(text);
  if (!document)
    return document.takeError();
  Trace trace;
  Path::Root root("trace");
  Reader reader(trace);
  if (!reader.read(document->root(), root))
    return errorOf(root, reader.found);
  placeBodies(trace, trace.ops, nullptr);
  return trace;
}

void forEachArgument(ArrayRef<TraceArgument> arguments,
                     function_ref<void(const TraceArgument &)> visit) {
  for (const TraceArgument &argument : arguments) {
    visit(argument);
    forEachArgument(argument.list, visit);
  }
}

void forEachOp(ArrayRef<TraceOp> ops,
               function_ref<void(const TraceOp &)> visit) {
  for (const TraceOp &op : ops) {
    visit(op);
    for (const TraceBlock &block : op.blocks)
      forEachOp(block.ops, visit);
  }
}

} // namespace htp
