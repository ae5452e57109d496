// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads torch.export archives. Such an archive holds its graph as JSON
// (models/NAME.json, in the schema of torch/_export/serde/schema.py) and the
// tensors as raw records beside it, described by
// data/{weights,constants}/NAME_{weights,constants}_config.json. Each node
// names the modules that were running, outermost first:
//
//   "nn_module_stack": "L__self__,,pkg.Net;L__self__block@1,block,pkg.Block"
//
// where @1 marks the second call of a module. Modules that never ran have no
// class there; extra/htp.modules.json lists all of them in archives that
// python/htp wrote (docs/formats/trace.md).

#include "Export.h"
#include "ExportJSON.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include <map>

using namespace htp::trace;
namespace json = llvm::json;
using llvm::StringRef;

/// The supported major version of the schema; minor versions only add fields.
static constexpr int64_t schemaMajor = 8;

namespace {
/// What a name in a graph refers to.
using Binding = std::variant<Argument::Value, Argument::Parameter>;

class ExportReader {
public:
  ExportReader(Archive &archive, bool hash) : archive(archive), hash(hash) {
    trace.source = "export";
  }
  Trace read(const std::string &record);

private:
  struct Scope {
    llvm::StringMap<Binding> bindings;
    const json::Object *tensors = nullptr; // tensor_values of the graph
  };

  void readGraph(const json::Object &graph, Scope &scope, Block &into);
  void readNode(const json::Object &node, Scope &scope, Block &into);
  Block readBlock(const json::Object &subgraph, bool captures, Scope &scope,
                  llvm::ArrayRef<Argument> operands);
  void readParameters(StringRef model, const json::Object &signature);
  void readTensors(StringRef folder, StringRef model);
  void addParameter(StringRef path, const char *kind);
  std::pair<std::string, int64_t> enterModules(StringRef stack);
  void addModule(StringRef path, StringRef qualified);
  void addModulesThatNeverRan();
  std::string canonicalPath(StringRef parameter) const;
  void sortModules(const json::Array &callGraph);

  Argument argument(const json::Value &arg, Scope &scope);
  Argument named(StringRef name, Scope &scope);
  Result makeResult(StringRef name, Scope &scope);

  Archive &archive;
  bool hash;
  Trace trace;
  std::map<std::string, size_t> moduleIndex;
  std::map<std::string, int64_t> callOf;                    // by module stack
  std::vector<std::pair<std::string, std::string>> aliases; // and their paths
  std::map<std::string, at::Tensor> tensors;
  std::map<const void *, std::string> contents;
  int64_t nextValue = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

void ExportReader::addModule(StringRef path, StringRef qualified) {
  if (!moduleIndex.try_emplace(path.str(), trace.modules.size()).second)
    return;
  Module module;
  module.path = path.str();
  module.qualified = qualified.str();
  module.torchNN = !path.empty() && definedByTorchNN(qualified);
  trace.modules.push_back(std::move(module));
}

/// Adds the new modules of a stack. Returns path and call of the innermost one.
std::pair<std::string, int64_t> ExportReader::enterModules(StringRef stack) {
  std::string path, key;
  int64_t call = 0;
  for (StringRef entry : llvm::split(stack, ';')) {
    auto [instance, rest] = entry.split(',');
    auto [where, qualified] = rest.split(',');
    // Ops added by PyTorch itself have one name in place of all three fields.
    if (qualified.empty() || instance == qualified)
      continue;
    // The second call of an instance is marked (@1) only in its own entry, so
    // build the key from the entries of all enclosing modules.
    key += (instance + ";").str();
    path.clear();
    for (StringRef component : llvm::split(where, '.'))
      path += (path.empty() ? "" : ".") + component.split('@').first.str();
    addModule(path, qualified);
    Module &module = trace.modules[moduleIndex[path]];
    auto [number, isNewCall] = callOf.try_emplace(key, module.calls);
    if (isNewCall)
      ++module.calls;
    call = number->second;
  }
  return {path, call};
}

/// Adds modules that never ran. If a module has several paths, paths that ran
/// are separate modules, as in the graph; the others become aliases of the
/// first.
void ExportReader::addModulesThatNeverRan() {
  static constexpr const char *record = "extra/htp.modules.json";
  if (!archive.has(record))
    return;
  json::Value parsed = parseJSON(archive, record);
  for (const json::Value &value : asArray(parsed, record)) {
    const json::Object &entry = asObject(value, record);
    std::vector<std::string> paths = {text(entry, "path")};
    if (const json::Value *others = entry.get("aliases"))
      for (const json::Value &alias : asArray(*others, "aliases"))
        paths.push_back(alias.getAsString().value_or("").str());
    auto ran = llvm::find_if(paths, [&](const std::string &path) {
      return moduleIndex.count(path) != 0;
    });
    std::string first = ran == paths.end() ? paths.front() : *ran;
    addModule(first, text(entry, "qualified"));
    for (const std::string &path : paths)
      if (!moduleIndex.count(path))
        aliases.emplace_back(path, first);
  }
  for (const auto &[alias, path] : aliases)
    trace.modules[moduleIndex[path]].aliases.push_back(alias);
}

/// Sorts modules, found in the order in which they ran, into the order of the
/// model's own tree.
void ExportReader::sortModules(const json::Array &callGraph) {
  std::map<std::string, size_t> position;
  for (const json::Value &entry : callGraph)
    position.try_emplace(text(asObject(entry, "module_call_graph"), "fqn"),
                         position.size());
  if (!moduleIndex.count("")) {
    Module root;
    root.qualified = "Module";
    root.calls = 1;
    trace.modules.push_back(root);
  }
  llvm::stable_sort(trace.modules, [&](const Module &a, const Module &b) {
    auto rank = [&](const Module &module) {
      auto known = position.find(module.path);
      return module.path.empty()       ? 0
             : known == position.end() ? position.size() + 1
                                       : known->second + 1;
    };
    return rank(a) < rank(b);
  });
  for (auto [index, module] : llvm::enumerate(trace.modules))
    moduleIndex[module.path] = index;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Reads the tensors of one folder of the archive as views of its records.
void ExportReader::readTensors(StringRef folder, StringRef model) {
  std::string directory = ("data/" + folder + "/").str();
  std::string record =
      directory + (model + "_" + folder + "_config.json").str();
  if (!archive.has(record))
    return;
  json::Value parsed = parseJSON(archive, record);
  for (auto &[name, value] : object(asObject(parsed, record), "config")) {
    const json::Object &entry = asObject(value, name);
    const json::Object *meta = entry.getObject("tensor_meta");
    if (!meta)
      continue;
    auto type = scalarType(meta->getInteger("dtype").value_or(0));
    Shape sizes = dimensions(array(*meta, "sizes"));
    Shape strides = dimensions(array(*meta, "strides"));
    int64_t offset =
        object(*meta, "storage_offset").getInteger("as_int").value_or(0);
    if (!type || sizes.size() != strides.size() || offset < 0 ||
        llvm::any_of(
            llvm::concat<int64_t>(sizes, strides),
            [](int64_t size) { return size < 0; }))
      continue;
    at::Tensor tensor = at::empty_strided(
        sizes, strides, at::TensorOptions(*type).device(at::kMeta));
    auto storage = entry.getBoolean("use_pickle").value_or(false)
                       ? std::nullopt
                       : archive.storage(directory + text(entry, "path_name"));
    if (storage) {
      size_t size = at::detail::computeStorageNbytes(
          sizes, strides, c10::elementSize(*type), offset);
      if (size > storage->nbytes())
        throw ArchiveError(
            llvm::formatv("tensor '{0}' needs {1} bytes, its record has {2}",
                          name.str(), size, storage->nbytes())
                .str());
      tensor = at::empty({0}, at::TensorOptions(*type))
                   .set_(*storage, offset, sizes, strides);
    }
    tensors.try_emplace(canonicalPath(name.str()), tensor);
  }
}

/// The path of a parameter with aliases of modules replaced, so that a shared
/// module's parameter is listed once.
std::string ExportReader::canonicalPath(StringRef parameter) const {
  for (const auto &[alias, path] : aliases) {
    StringRef rest = parameter;
    if (rest.consume_front(alias) && rest.starts_with("."))
      return path + rest.str();
  }
  return parameter.str();
}

/// Adds a parameter to the deepest module on its path that ran. Components of
/// modules that never ran become part of the parameter's name.
void ExportReader::addParameter(StringRef path, const char *kind) {
  StringRef owner = path, name;
  std::map<std::string, size_t>::iterator module;
  do {
    owner = owner.contains('.') ? owner.rsplit('.').first : "";
    module = moduleIndex.find(owner.str());
  } while (module == moduleIndex.end() && !owner.empty());
  if (module == moduleIndex.end())
    return;
  name = owner.empty() ? path : path.drop_front(owner.size() + 1);
  auto tensor = tensors.find(path.str());
  if (tensor == tensors.end())
    return;
  Parameter parameter =
      describeParameter(name.str(), kind, tensor->second,
                        hash && !tensor->second.is_meta(), archive);
  const void *data =
      tensor->second.is_meta() ? nullptr : contentsOf(tensor->second);
  if (data) {
    auto [first, isNew] = contents.try_emplace(data, path.str());
    if (!isNew)
      parameter.tied = first->second;
  }
  trace.modules[module->second].parameters.push_back(std::move(parameter));
}

void ExportReader::readParameters(StringRef model,
                                  const json::Object &signature) {
  readTensors("weights", model);
  readTensors("constants", model);
  llvm::StringSet<> listed;
  for (const json::Value &spec : array(signature, "input_specs"))
    for (auto [key, kind] :
         {std::pair{"parameter", "parameter"}, std::pair{"buffer", "buffer"},
          std::pair{"tensor_constant", "constant"}})
      if (const json::Object *entry =
              asObject(spec, "input_specs").getObject(key)) {
        std::string path =
            canonicalPath(text(*entry, (StringRef(key) + "_name").str()));
        if (listed.insert(path).second)
          addParameter(path, kind);
      }
  for (auto &[path, tensor] : tensors) // tied parameters without a graph input
    if (listed.insert(path).second)
      addParameter(path, "parameter");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Result ExportReader::makeResult(StringRef name, Scope &scope) {
  Result result;
  result.id = nextValue++;
  result.name = name.str();
  const json::Object *meta =
      scope.tensors ? scope.tensors->getObject(name) : nullptr;
  if (meta) {
    result.shape = dimensions(array(*meta, "sizes"));
    auto type = scalarType(meta->getInteger("dtype").value_or(0));
    result.dtype = type ? dtypeName(*type) : "unknown";
  }
  scope.bindings[name] = Argument::Value{result.id};
  return result;
}

Argument ExportReader::named(StringRef name, Scope &scope) {
  auto found = scope.bindings.find(name);
  if (found == scope.bindings.end())
    throw ArchiveError(
        llvm::formatv("the archive's graph reads '{0}', which nothing makes",
                      name)
            .str());
  if (auto *value = std::get_if<Argument::Value>(&found->second))
    return {*value};
  return {std::get<Argument::Parameter>(found->second)};
}

/// Reads an argument: an object with a single key that names its type
/// ("as_ints").
Argument ExportReader::argument(const json::Value &arg, Scope &scope) {
  if (const json::Array *items = arg.getAsArray()) {
    Argument::List list;
    for (const json::Value &item : *items)
      list.push_back(argument(item, scope));
    return {std::move(list)};
  }
  const json::Object *object = arg.getAsObject();
  if (!object || object->empty())
    return {arg};
  if (auto name = object->getString("as_name"))
    return named(*name, scope);
  if (auto name = object->getString("name"); name && object->size() == 1)
    return named(*name, scope);
  if (object->get("as_none"))
    return {json::Value(nullptr)};
  if (const json::Object *device = object->getObject("as_device"))
    return {json::Value(device->getString("type").value_or("").str())};
  if (object->size() == 1)
    return argument(object->begin()->second, scope);
  return {arg};
}

/// Collects the names in the outputs of a node or graph, in order.
static void collectNames(const json::Value &arg,
                         std::vector<StringRef> &names) {
  if (const json::Array *items = arg.getAsArray()) {
    for (const json::Value &item : *items)
      collectNames(item, names);
    return;
  }
  const json::Object *object = arg.getAsObject();
  if (!object)
    return;
  auto name = object->getString("as_name");
  if (!name && object->size() == 1)
    name = object->getString("name");
  if (name)
    names.push_back(*name);
  else if (object->size() == 1)
    collectNames(object->begin()->second, names);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// "torch.ops.aten.linear.default" is aten::linear, "_operator.mul" is
/// _operator::mul.
static std::string kindOf(StringRef target) {
  llvm::SmallVector<StringRef> atoms;
  if (target.consume_front("torch.ops.")) {
    target.split(atoms, '.');
    return atoms.size() < 2 ? target.str() : (atoms[0] + "::" + atoms[1]).str();
  }
  auto [space, name] = target.rsplit('.');
  return name.empty() ? target.str() : (space + "::" + name).str();
}

/// The innermost frame of the model's own code in a Python traceback:
/// `File "model.py", line 12, in forward`, the innermost frame last.
static std::optional<Source> sourceOf(StringRef traceback) {
  std::vector<Source> frames;
  for (StringRef line : llvm::split(traceback, '\n')) {
    line = line.ltrim();
    if (!line.consume_front("File \""))
      continue;
    auto [file, rest] = line.split("\", line ");
    Source frame{file.str()};
    if (!rest.consumeInteger(10, frame.line))
      frames.insert(frames.begin(), frame);
  }
  return modelFrame(frames);
}

/// The values at the end of a node's inputs, which are passed to its subgraphs.
static std::vector<Argument> operandsOf(llvm::ArrayRef<Argument> inputs) {
  std::vector<Argument> operands;
  for (const Argument &input : inputs)
    if (auto *list = std::get_if<Argument::List>(&input.what))
      llvm::append_range(operands, operandsOf(*list));
    else if (!std::holds_alternative<json::Value>(input.what))
      operands.push_back(input);
  return operands;
}

static Binding bindingOf(const Argument &argument) {
  if (auto *value = std::get_if<Argument::Value>(&argument.what))
    return *value;
  return std::get<Argument::Parameter>(argument.what);
}

/// Reads a subgraph as a block. With `captures` its inputs are just names for
/// `operands`; otherwise (the body of a loop) they are new values.
Block ExportReader::readBlock(const json::Object &subgraph, bool captures,
                              Scope &outer, llvm::ArrayRef<Argument> operands) {
  const json::Object &graph = object(subgraph, "graph");
  std::vector<StringRef> inputs;
  collectNames(field(graph, "inputs"), inputs);
  Block block;
  Scope scope;
  scope.tensors = graph.getObject("tensor_values");
  if (inputs.size() > operands.size())
    throw ArchiveError("a subgraph in the archive takes more values than its "
                       "node passes on");
  operands = operands.take_back(inputs.size());
  for (auto [name, operand] : llvm::zip(inputs, operands))
    if (captures)
      scope.bindings.try_emplace(name, bindingOf(operand));
    else
      block.inputs.push_back(makeResult(name, scope));
  readGraph(graph, scope, block);
  for (const json::Value &result : array(graph, "outputs"))
    block.outputs.push_back(argument(result, scope));
  return block;
}

void ExportReader::readGraph(const json::Object &graph, Scope &scope,
                             Block &into) {
  for (const json::Value &node : array(graph, "nodes"))
    readNode(asObject(node, "nodes"), scope, into);
}

void ExportReader::readNode(const json::Object &node, Scope &scope,
                            Block &into) {
  const json::Object *metadata = node.getObject("metadata");
  auto note = [&](StringRef key) {
    return metadata ? metadata->getString(key).value_or("") : StringRef();
  };
  Op op;
  op.kind = kindOf(text(node, "target"));
  std::tie(op.module, op.call) = enterModules(note("nn_module_stack"));
  op.source = sourceOf(note("stack_trace"));
  std::vector<const json::Object *> subgraphs;
  for (const json::Value &input : array(node, "inputs")) {
    const json::Value &arg = field(asObject(input, "inputs"), "arg");
    const json::Object *fields = arg.getAsObject();
    if (const json::Object *graph =
            fields ? fields->getObject("as_graph") : nullptr)
      subgraphs.push_back(graph);
    else
      op.inputs.push_back(argument(arg, scope));
  }
  std::vector<StringRef> results;
  collectNames(field(node, "outputs"), results);
  std::vector<Argument> operands;
  if (!subgraphs.empty())
    operands = operandsOf(op.inputs);
  if (subgraphs.size() == 1) { // a wrapper, such as one that sets the grad mode
    Block body =
        readBlock(*subgraphs.front(), /*captures=*/true, scope, operands);
    std::move(body.ops.begin(), body.ops.end(), std::back_inserter(into.ops));
    std::vector<Argument> made = operandsOf(body.outputs);
    for (auto [name, argument] : llvm::zip(results, made))
      scope.bindings.insert_or_assign(name, bindingOf(argument));
    return;
  }
  for (const json::Object *subgraph : subgraphs)
    op.blocks.push_back(readBlock(*subgraph,
                                  /*captures=*/op.kind == "higher_order::cond",
                                  scope, operands));
  for (StringRef name : results)
    op.outputs.push_back(makeResult(name, scope));
  into.ops.push_back(std::move(op));
}

//===----------------------------------------------------------------------===//
// The archive
//===----------------------------------------------------------------------===//

Trace ExportReader::read(const std::string &record) {
  json::Value parsed = parseJSON(archive, record);
  const json::Object &program = asObject(parsed, record);
  int64_t major =
      object(program, "schema_version").getInteger("major").value_or(-1);
  if (major != schemaMajor)
    throw ArchiveError(
        llvm::formatv("the archive has version {0} of torch.export's schema, "
                      "expected {1} (PyTorch 2.6 to 2.13): export the model "
                      "again with such a version",
                      major, schemaMajor)
            .str());
  const json::Object &module = object(program, "graph_module");
  const json::Object &graph = object(module, "graph");
  const json::Object &signature = object(module, "signature");

  Scope scope;
  scope.tensors = graph.getObject("tensor_values");
  for (const json::Value &spec : array(signature, "input_specs"))
    for (StringRef kind : {"parameter", "buffer", "tensor_constant"})
      if (const json::Object *entry =
              asObject(spec, "input_specs").getObject(kind))
        scope.bindings.try_emplace(
            text(object(*entry, "arg"), "name"),
            Argument::Parameter{text(*entry, (kind + "_name").str())});
  std::vector<StringRef> inputs;
  collectNames(field(graph, "inputs"), inputs);
  for (StringRef name : inputs)
    if (!scope.bindings.contains(name))
      trace.body.inputs.push_back(makeResult(name, scope));
  readGraph(graph, scope, trace.body);
  for (const json::Value &result : array(graph, "outputs"))
    for (Argument &argument : operandsOf({this->argument(result, scope)}))
      trace.body.outputs.push_back(std::move(argument));
  addModulesThatNeverRan();
  sortModules(array(module, "module_call_graph"));
  StringRef model = record;
  model.consume_front("models/");
  model.consume_back(".json");
  readParameters(model, signature);
  return std::move(trace);
}

/// The record that holds the graph; empty if there is none.
static std::string graphRecord(Archive &archive) {
  for (const std::string &record : archive.reader().getAllRecords())
    if (StringRef(record).starts_with("models/") &&
        StringRef(record).ends_with(".json"))
      return record;
  return {};
}

bool htp::trace::isExportArchive(Archive &archive) {
  return archive.has("archive_format") ||
         archive.has("serialized_exported_program.json") ||
         !graphRecord(archive).empty();
}

Trace htp::trace::traceExport(Archive &archive, bool hash) {
  std::string record = graphRecord(archive);
  if (record.empty())
    throw ArchiveError("this .pt2 archive has no models/*.json: it was written "
                       "by a PyTorch before 2.8, or holds compiled code only; "
                       "export the model again with torch.export.save()");
  return ExportReader(archive, hash).read(record);
}
