// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of trace.json. It rejects what docs/formats/trace.schema.json
// rejects, and also references to modules, parameters and values that the
// trace does not have.

#include "HTP/Hierarchy/Trace.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using json::ObjectMapper;
using json::Path;

namespace htp {

/// Deeper nesting than any trace needs; LLVM's parser is recursive.
static constexpr unsigned kMaxNesting = 256;

namespace {
/// Reads the parts of a trace, knowing what the parts before have defined.
class Reader {
public:
  explicit Reader(Trace &trace) : trace(trace) {}
  bool read(const json::Value &value, Path path);

  /// What the error is about, where the message alone does not say it.
  std::string found;

private:
  Trace &trace;
  DenseSet<TraceValueId> defined;

  /// Reports a problem (a literal, as Path wants it) and what was found.
  bool fail(Path path, StringLiteral message, const Twine &what) {
    path.report(message);
    found = what.str();
    return false;
  }

  bool readHeader(const json::Object &object, Path path);
  bool readModules(const json::Array &array, Path path);
  bool readModule(const json::Value &value, Module &module, Path path);
  bool readParameter(const json::Value &value, Parameter &parameter, Path path);
  bool readValue(const json::Value &value, TraceValue &result, Path path);
  bool readArgument(const json::Value &value, TraceArgument &result, Path path);
  bool readOp(const json::Value &value, TraceOp &op, Path path);
  bool readSource(const json::Value &value, TraceOp &op, Path path);
  bool readBlock(const json::Value &value, TraceBlock &block, Path path);

  /// Reads each element of the array `key` of `object` by a member function.
  /// A missing array is an empty one unless it is `required`.
  template <typename T>
  bool readList(const json::Object &object, StringLiteral key, bool required,
                std::vector<T> &list, Path path,
                bool (Reader::*readOne)(const json::Value &, T &, Path));
};
} // namespace

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static bool reject(Path path, StringLiteral message) {
  path.report(message);
  return false;
}

static const json::Object *asObject(const json::Value &value, Path path) {
  const json::Object *object = value.getAsObject();
  if (!object)
    path.report("expected object");
  return object;
}

static bool getString(const json::Object &object, StringLiteral key,
                      bool required, std::string &result, Path path) {
  const json::Value *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected string");
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    return reject(path.field(key), "expected string");
  result = text->str();
  return true;
}

static bool getCount(const json::Object &object, StringLiteral key,
                     bool required, int64_t &result, Path path) {
  const json::Value *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected integer");
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 0)
    return reject(path.field(key), "expected integer that is not negative");
  result = *number;
  return true;
}

static bool getHash(const json::Object &object, StringLiteral key,
                    uint64_t &result, Path path) {
  std::string text;
  if (!getString(object, key, /*required=*/false, text, path))
    return false;
  if (!object.get(key))
    return true;
  if (text.size() != 16 || StringRef(text).getAsInteger(16, result))
    return reject(path.field(key), "expected 16 hexadecimal digits");
  return true;
}

/// Sizes; null where one differs from run to run.
static bool getShape(const json::Value &value, std::vector<int64_t> &shape,
                     Path path) {
  const json::Array *sizes = value.getAsArray();
  if (!sizes)
    return reject(path, "expected array");
  for (const auto &[index, size] : enumerate(*sizes)) {
    std::optional<int64_t> number = size.getAsInteger();
    if (size.kind() == json::Value::Null)
      number = kDynamicSize;
    else if (!number || *number < 0)
      return reject(path.index(index),
                    "expected integer that is not negative, or null");
    shape.push_back(*number);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

template <typename T>
bool Reader::readList(const json::Object &object, StringLiteral key,
                      bool required, std::vector<T> &list, Path path,
                      bool (Reader::*readOne)(const json::Value &, T &, Path)) {
  const json::Value *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected array");
  const json::Array *array = value->getAsArray();
  if (!array)
    return reject(path.field(key), "expected array");
  list.resize(array->size());
  for (size_t i = 0; i < list.size(); ++i)
    if (!(this->*readOne)((*array)[i], list[i], path.field(key).index(i)))
      return false;
  return true;
}

bool Reader::read(const json::Value &value, Path path) {
  const json::Object *object = asObject(value, path);
  if (!object || !readHeader(*object, path))
    return false;
  const json::Array *modules = object->getArray("modules");
  if (!modules)
    return reject(path.field("modules"), "missing, expected array");
  return readModules(*modules, path.field("modules")) &&
         readList(*object, "inputs", true, trace.inputs, path,
                  &Reader::readValue) &&
         readList(*object, "ops", true, trace.ops, path, &Reader::readOp) &&
         readList(*object, "outputs", true, trace.outputs, path,
                  &Reader::readArgument);
}

bool Reader::readHeader(const json::Object &object, Path path) {
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
  const json::Value *producer = object.get("producer");
  if (!producer)
    return true;
  const json::Object *fields = asObject(*producer, path.field("producer"));
  return fields &&
         getString(*fields, "name", false, trace.producer,
                   path.field("producer")) &&
         getString(*fields, "source", false, trace.source,
                   path.field("producer"));
}

bool Reader::readModules(const json::Array &array, Path path) {
  std::vector<Module> modules(array.size());
  for (size_t i = 0; i < modules.size(); ++i)
    if (!readModule(array[i], modules[i], path.index(i)))
      return false;
  Expected<ModuleTree> tree = ModuleTree::create(std::move(modules));
  if (!tree)
    return fail(path, "not a tree", toString(tree.takeError()));
  trace.tree = std::move(*tree);
  return true;
}

bool Reader::readModule(const json::Value &value, Module &module, Path path) {
  const json::Object *object = asObject(value, path);
  if (!object || !getString(*object, "path", true, module.path, path) ||
      !getString(*object, "class", true, module.className, path) ||
      !getString(*object, "qualified", false, module.qualified, path) ||
      !getCount(*object, "calls", false, module.calls, path))
    return false;
  if (const json::Value *torchNN = object->get("torch_nn")) {
    std::optional<bool> flag = torchNN->getAsBoolean();
    if (!flag)
      return reject(path.field("torch_nn"), "expected boolean");
    module.torchNN = *flag;
  }
  if (const json::Value *aliases = object->get("aliases"))
    if (!fromJSON(*aliases, module.aliases, path.field("aliases")))
      return false;
  return readList(*object, "parameters", false, module.parameters, path,
                  &Reader::readParameter);
}

bool Reader::readParameter(const json::Value &value, Parameter &parameter,
                           Path path) {
  const json::Object *object = asObject(value, path);
  std::string kind = "parameter";
  if (!object || !getString(*object, "name", true, parameter.name, path) ||
      !getString(*object, "kind", false, kind, path) ||
      !getString(*object, "dtype", true, parameter.dtype, path) ||
      !getHash(*object, "hash", parameter.hash, path) ||
      !getHash(*object, "values_hash", parameter.valuesHash, path) ||
      !getString(*object, "tied", false, parameter.tied, path))
    return false;
  if (kind != "parameter" && kind != "buffer")
    return reject(path.field("kind"), "expected \"parameter\" or \"buffer\"");
  parameter.buffer = kind == "buffer";
  const json::Value *shape = object->get("shape");
  if (!shape)
    return reject(path.field("shape"), "missing, expected array");
  return getShape(*shape, parameter.shape, path.field("shape"));
}

bool Reader::readValue(const json::Value &value, TraceValue &result,
                       Path path) {
  const json::Object *object = asObject(value, path);
  if (!object || !getCount(*object, "value", true, result.value, path) ||
      !getString(*object, "name", false, result.name, path) ||
      !getString(*object, "dtype", false, result.dtype, path))
    return false;
  if (!defined.insert(result.value).second)
    return fail(path.field("value"), "value is made twice",
                Twine(result.value));
  const json::Value *shape = object->get("shape");
  if (!shape || shape->kind() == json::Value::Null)
    return true;
  return getShape(*shape, result.shape.emplace(), path.field("shape"));
}

bool Reader::readArgument(const json::Value &value, TraceArgument &result,
                          Path path) {
  const json::Object *object = asObject(value, path);
  if (!object)
    return false;
  if (object->get("value")) {
    result.kind = TraceArgument::Kind::Value;
    if (!getCount(*object, "value", true, result.value, path))
      return false;
    return defined.contains(result.value) ||
           fail(path.field("value"), "value is used before it is made",
                Twine(result.value));
  }
  if (object->get("parameter")) {
    result.kind = TraceArgument::Kind::Parameter;
    if (!getString(*object, "parameter", true, result.parameter, path))
      return false;
    return trace.tree.findParameter(result.parameter) ||
           fail(path.field("parameter"), "no module has this parameter",
                result.parameter);
  }
  if (object->get("list")) {
    result.kind = TraceArgument::Kind::List;
    return readList(*object, "list", true, result.list, path,
                    &Reader::readArgument);
  }
  const json::Value *constant = object->get("constant");
  if (!constant)
    return reject(path, "expected one of value, parameter, constant and list");
  result.kind = TraceArgument::Kind::Constant;
  result.constant = *constant;
  return true;
}

bool Reader::readOp(const json::Value &value, TraceOp &op, Path path) {
  const json::Object *object = asObject(value, path);
  std::string module;
  if (!object || !getString(*object, "kind", true, op.kind, path) ||
      !getString(*object, "module", true, module, path) ||
      !getCount(*object, "call", false, op.call, path) ||
      !readList(*object, "inputs", false, op.inputs, path,
                &Reader::readArgument) ||
      !readList(*object, "blocks", false, op.blocks, path,
                &Reader::readBlock) ||
      !readList(*object, "outputs", false, op.outputs, path,
                &Reader::readValue))
    return false;
  std::optional<ModuleId> id = trace.tree.find(module);
  if (!id)
    return fail(path.field("module"), "no module has this path", module);
  op.module = *id;
  const json::Value *source = object->get("source");
  return !source || source->kind() == json::Value::Null ||
         readSource(*source, op, path.field("source"));
}

bool Reader::readSource(const json::Value &value, TraceOp &op, Path path) {
  const json::Object *object = asObject(value, path);
  return object && getString(*object, "file", true, op.file, path) &&
         getCount(*object, "line", false, op.line, path);
}

bool Reader::readBlock(const json::Value &value, TraceBlock &block, Path path) {
  const json::Object *object = asObject(value, path);
  return object &&
         readList(*object, "inputs", false, block.inputs, path,
                  &Reader::readValue) &&
         readList(*object, "ops", true, block.ops, path, &Reader::readOp) &&
         readList(*object, "outputs", false, block.outputs, path,
                  &Reader::readArgument);
}

//===----------------------------------------------------------------------===//
// Trace
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

Expected<Trace> Trace::parse(StringRef text) {
  if (unsigned depth = nesting(text); depth > kMaxNesting)
    return createStringError("trace is nested %u levels deep, expected at "
                             "most %u",
                             depth, kMaxNesting);
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("not JSON: " + toString(value.takeError()));
  Trace trace;
  Path::Root root("trace");
  Reader reader(trace);
  if (!reader.read(*value, root)) {
    std::string message = toString(root.getError());
    return createStringError(reader.found.empty()
                                 ? message
                                 : message + ", found '" + reader.found + "'");
  }
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
