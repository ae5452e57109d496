// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Abstractly interprets `forward` and the methods that it calls. As the module
// objects are available, GetAttr and CallMethod tell exactly which instance
// runs an op, and in which call. Nothing is executed: tensors are just
// numbered, and only what is fixed in the archive (modules, parameters,
// constants) has known values.

#include "TorchScript.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <ATen/core/function.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

using namespace htp::trace;
namespace jit = torch::jit;
namespace prim = c10::prim;
namespace aten = c10::aten;
namespace attr = c10::attr;
using ObjectPtr = const c10::ivalue::Object *;

/// Demangles "__torch__.models.___torch_mangle_7.Block" to "models.Block".
static std::string demangle(llvm::StringRef name) {
  std::string result;
  name.consume_front("__torch__.");
  for (llvm::StringRef atom : llvm::split(name, '.'))
    if (!atom.starts_with("___torch_mangle_"))
      result += (result.empty() ? "" : ".") + atom.str();
  return result;
}

static std::string join(llvm::StringRef path, llvm::StringRef name) {
  return path.empty() ? name.str() : (path + "." + name).str();
}

namespace {
/// An abstract value.
struct Thing {
  struct Value {
    int64_t id;
  };
  struct Parameter {
    std::string path;
  };
  using List = std::shared_ptr<std::vector<Thing>>;
  std::variant<std::monostate, Value, Parameter, List, c10::IValue> what;

  /// The module object, if the value is one.
  ObjectPtr module() const {
    auto *constant = std::get_if<c10::IValue>(&what);
    return constant && constant->isObject() ? &constant->toObjectRef()
                                            : nullptr;
  }
  const c10::IValue *constant() const {
    return std::get_if<c10::IValue>(&what);
  }
  const std::vector<Thing> *list() const {
    auto *list = std::get_if<List>(&what);
    return list ? list->get() : nullptr;
  }
  static Thing makeList(std::vector<Thing> items) {
    return {std::make_shared<std::vector<Thing>>(std::move(items))};
  }
};

class Walker {
public:
  Walker(Archive &archive, bool hash) : archive(archive), hash(hash) {
    trace.source = "torchscript";
  }

  Trace walk(const jit::Module &root);

private:
  using Environment = llvm::DenseMap<const jit::Value *, Thing>;

  void addModules(const c10::IValue &object, const std::string &path);
  void addParameters(Module &module, const c10::ivalue::Object &object);
  std::string constantPath(const at::Tensor &tensor);

  Thing input(const jit::Value *value, std::vector<Result> &inputs);
  Thing call(ObjectPtr self, const jit::Function &function,
             std::vector<Thing> arguments);
  void walkBlock(const jit::Block *block, Environment &env);
  void walkNode(const jit::Node *node, Environment &env);
  bool walkWire(const jit::Node *node, Environment &env);
  bool walkCall(const jit::Node *node, Environment &env);
  bool walkKnownBranch(const jit::Node *node, Environment &env);
  void addOp(const jit::Node *node, Environment &env);

  Thing attribute(ObjectPtr object, const std::string &name);
  Thing constant(c10::IValue value);
  Result makeResult(const jit::Value *value);
  Argument argument(const Thing &thing);
  void flatten(const Thing &thing, std::vector<Argument> &arguments);

  Archive &archive;
  bool hash;
  Trace trace;
  llvm::DenseMap<ObjectPtr, size_t> moduleIndex;
  llvm::DenseMap<const void *, std::string> contents; // first path of a tensor
  llvm::DenseMap<const void *, std::string> constants;
  std::map<std::pair<ObjectPtr, std::string>, Thing> assigned;

  Block *into = &trace.body;
  ObjectPtr self = nullptr;
  int64_t callNumber = 0, nextValue = 0, opCount = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Modules and parameters
//===----------------------------------------------------------------------===//

void Walker::addModules(const c10::IValue &value, const std::string &path) {
  const c10::ivalue::Object &object = value.toObjectRef();
  auto [known, isNew] = moduleIndex.try_emplace(&object, trace.modules.size());
  if (!isNew) { // paths of its children are derived from this one
    trace.modules[known->second].aliases.push_back(path);
    return;
  }
  auto type = object.type();
  Module module;
  module.path = path;
  module.qualified =
      demangle(type->name() ? type->name()->qualifiedName() : "Module");
  module.torchNN = !path.empty() && definedByTorchNN(module.qualified);
  addParameters(module, object);
  trace.modules.push_back(std::move(module));
  for (size_t i = 0; i < type->numAttributes(); ++i)
    if (type->getAttribute(i)->is_module() && object.getSlot(i).isObject())
      addModules(object.getSlot(i), join(path, type->getAttributeName(i)));
}

void Walker::addParameters(Module &module, const c10::ivalue::Object &object) {
  auto type = object.type();
  for (size_t i = 0; i < type->numAttributes(); ++i) {
    const c10::IValue &value = object.getSlot(i);
    if (!value.isTensor() || !value.toTensor().defined())
      continue;
    const char *kind = type->is_parameter(i) ? "parameter"
                       : type->is_buffer(i)  ? "buffer"
                                             : "constant";
    const at::Tensor &tensor = value.toTensor();
    Parameter parameter = describeParameter(type->getAttributeName(i), kind,
                                            tensor, hash, archive);
    if (const void *data = contentsOf(tensor)) {
      std::string path = join(module.path, parameter.name);
      auto [first, isNew] = contents.try_emplace(data, path);
      if (!isNew)
        parameter.tied = first->second;
    }
    module.parameters.push_back(std::move(parameter));
  }
}

/// The path for a tensor literal in the code, which becomes a parameter of the
/// root.
std::string Walker::constantPath(const at::Tensor &tensor) {
  std::string &path = constants[tensor.unsafeGetTensorImpl()];
  if (path.empty()) {
    path = "CONSTANTS.c" + std::to_string(constants.size() - 1);
    trace.modules.front().parameters.push_back(
        describeParameter(path, "constant", tensor, hash, archive));
  }
  return path;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Result Walker::makeResult(const jit::Value *value) {
  Result result;
  result.id = nextValue++;
  auto tensor = value->type()->cast<c10::TensorType>();
  if (!tensor || !tensor->scalarType())
    return result;
  if (auto sizes = tensor->sizes().concrete_sizes()) {
    result.shape = *sizes;
    result.dtype = dtypeName(*tensor->scalarType());
  }
  return result;
}

/// Adds an input of the model. Tuples are flattened, as exporters do.
Thing Walker::input(const jit::Value *value, std::vector<Result> &inputs) {
  auto add = [&](auto &&add, const c10::TypePtr &type) -> Thing {
    if (auto tuple = type->cast<c10::TupleType>()) {
      std::vector<Thing> items;
      for (const c10::TypePtr &element : tuple->elements())
        items.push_back(add(add, element));
      return Thing::makeList(std::move(items));
    }
    Result result = makeResult(value);
    result.name = value->hasDebugName() ? value->debugNameBase() : "";
    inputs.push_back(result);
    return {Thing::Value{result.id}};
  };
  return add(add, value->type());
}

Thing Walker::constant(c10::IValue value) {
  if (value.isTensor() && value.toTensor().defined()) {
    const at::Tensor &tensor = value.toTensor();
    if (tensor.dim() == 0 && contentsOf(tensor) && !tensor.is_complex())
      return {c10::IValue(tensor.item())};
    return {Thing::Parameter{constantPath(tensor)}};
  }
  return {std::move(value)};
}

Thing Walker::attribute(ObjectPtr object, const std::string &name) {
  if (auto found = assigned.find({object, name}); found != assigned.end())
    return found->second;
  auto slot = object->type()->findAttributeSlot(name);
  if (!slot)
    return {};
  const c10::IValue &value = object->getSlot(*slot);
  auto module = moduleIndex.find(object);
  if (value.isTensor() && module != moduleIndex.end())
    return {Thing::Parameter{join(trace.modules[module->second].path, name)}};
  return {value};
}

/// Converts a constant to JSON; what JSON cannot represent becomes a string.
static llvm::json::Value toJSON(const c10::IValue &value) {
  if (value.isNone())
    return nullptr;
  if (value.isBool())
    return value.toBool();
  if (value.isInt())
    return value.toInt();
  if (value.isDouble()) {
    double number = value.toDouble();
    if (std::isfinite(number))
      return number;
    return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
  }
  std::string text;
  if (value.isString())
    text = value.toStringRef();
  else if (value.isDevice())
    text = value.toDevice().str();
  else
    text = value.tagKind();
  return llvm::json::fixUTF8(text);
}

Argument Walker::argument(const Thing &thing) {
  if (auto *value = std::get_if<Thing::Value>(&thing.what))
    return {Argument::Value{value->id}};
  if (auto *parameter = std::get_if<Thing::Parameter>(&thing.what))
    return {Argument::Parameter{parameter->path}};
  Argument::List items;
  if (const std::vector<Thing> *list = thing.list()) {
    for (const Thing &item : *list)
      items.push_back(argument(item));
    return {std::move(items)};
  }
  const c10::IValue *constant = thing.constant();
  if (!constant)
    return {llvm::json::Value(nullptr)};
  if (!constant->isList())
    return {toJSON(*constant)};
  for (const c10::IValue &item : constant->toListRef())
    items.push_back(argument(this->constant(item)));
  return {std::move(items)};
}

void Walker::flatten(const Thing &thing, std::vector<Argument> &arguments) {
  const std::vector<Thing> *list = thing.list();
  if (!list)
    return arguments.push_back(argument(thing));
  for (const Thing &item : *list)
    flatten(item, arguments);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Thing Walker::call(ObjectPtr callee, const jit::Function &function,
                   std::vector<Thing> arguments) {
  // A method that calls another method of its own module is still in the same
  // call.
  llvm::SaveAndRestore savedSelf(self);
  llvm::SaveAndRestore savedNumber(callNumber);
  if (callee && callee != self) {
    auto module = moduleIndex.find(callee);
    if (module != moduleIndex.end()) {
      callNumber = trace.modules[module->second].calls++;
      self = callee;
    }
  }
  auto graph =
      jit::toGraphFunction(const_cast<jit::Function &>(function)).graph();
  Environment env;
  for (auto [value, thing] : llvm::zip(graph->inputs(), arguments))
    env[value] = thing;
  walkBlock(graph->block(), env);
  std::vector<Thing> results;
  for (const jit::Value *value : graph->outputs())
    results.push_back(env[value]);
  return results.size() == 1 ? results.front()
                             : Thing::makeList(std::move(results));
}

void Walker::walkBlock(const jit::Block *block, Environment &env) {
  for (const jit::Node *node : block->nodes())
    walkNode(node, env);
}

void Walker::walkNode(const jit::Node *node, Environment &env) {
  if (!walkWire(node, env) && !walkCall(node, env) &&
      !walkKnownBranch(node, env))
    addOp(node, env);
}

/// Handles nodes that only forward values; these are not recorded as ops.
bool Walker::walkWire(const jit::Node *node, Environment &env) {
  auto in = [&](size_t index) { return env[node->input(index)]; };
  auto inputs = [&](size_t first, size_t step) {
    std::vector<Thing> things;
    for (size_t i = first; i < node->inputs().size(); i += step)
      things.push_back(in(i));
    return Thing::makeList(std::move(things));
  };
  switch (node->kind()) {
  case prim::Constant:
    if (auto value = jit::toIValue(node->output()))
      env[node->output()] = constant(*value);
    return true;
  case prim::ListConstruct:
  case prim::TupleConstruct:
    env[node->output()] = inputs(0, 1);
    return true;
  case prim::DictConstruct: // its values
    env[node->output()] = inputs(1, 2);
    return true;
  case prim::ListUnpack:
  case prim::TupleUnpack: {
    Thing whole = in(0);
    const std::vector<Thing> *items = whole.list();
    for (size_t i = 0; i < node->outputs().size(); ++i)
      env[node->output(i)] = !items              ? whole
                             : i < items->size() ? (*items)[i]
                                                 : Thing();
    return true;
  }
  case prim::TupleIndex:
  case aten::__getitem__: {
    Thing whole = in(0), index = in(1);
    const std::vector<Thing> *items = whole.list();
    if (!items || !index.constant() || !index.constant()->isInt())
      return false;
    int64_t position = index.constant()->toInt();
    position += position < 0 ? items->size() : 0;
    env[node->output()] = position >= 0 && position < int64_t(items->size())
                              ? (*items)[position]
                              : Thing();
    return true;
  }
  case prim::NumToTensor:
  case aten::Int:
  case aten::ScalarImplicit:
  case aten::IntImplicit:
  case aten::FloatImplicit:
  case prim::unchecked_cast:
  case prim::unchecked_unwrap_optional:
    env[node->output()] = in(0);
    return true;
  default:
    return false;
  }
}

bool Walker::walkCall(const jit::Node *node, Environment &env) {
  switch (node->kind()) {
  case prim::GetAttr:
    if (ObjectPtr object = env[node->input()].module()) {
      env[node->output()] = attribute(object, node->s(attr::name));
      return true;
    }
    return false;
  case prim::SetAttr:
    if (ObjectPtr object = env[node->input(0)].module())
      assigned[{object, node->s(attr::name)}] = env[node->input(1)];
    return true;
  case prim::CallMethod: {
    ObjectPtr object = env[node->input(0)].module();
    auto *method =
        object ? object->type()->findMethod(node->s(attr::name)) : nullptr;
    if (!method || !method->isGraphFunction())
      return false;
    std::vector<Thing> arguments;
    for (const jit::Value *value : node->inputs())
      arguments.push_back(env[value]);
    env[node->output()] = call(object, *method, std::move(arguments));
    return true;
  }
  case prim::CallFunction: {
    auto type = node->input(0)->type()->cast<c10::FunctionType>();
    if (!type || !type->function()->isGraphFunction())
      return false;
    std::vector<Thing> arguments;
    for (const jit::Value *value : node->inputs().slice(1))
      arguments.push_back(env[value]);
    env[node->output()] =
        call(nullptr, *type->function(), std::move(arguments));
    return true;
  }
  default:
    return false;
  }
}

/// Follows a branch whose condition is known (`if self.training:`, `if mask is
/// None:`), as an exporter does.
bool Walker::walkKnownBranch(const jit::Node *node, Environment &env) {
  if (node->kind() == aten::__is__ || node->kind() == aten::__isnot__) {
    Thing left = env[node->input(0)], right = env[node->input(1)];
    if (!right.constant() || !right.constant()->isNone() ||
        std::holds_alternative<std::monostate>(left.what))
      return false;
    bool isNone = left.constant() && left.constant()->isNone();
    env[node->output()] = {
        c10::IValue(isNone == (node->kind() == aten::__is__))};
    return true;
  }
  if (node->kind() != prim::If)
    return false;
  Thing condition = env[node->input()];
  if (!condition.constant() || !condition.constant()->isBool())
    return false;
  const jit::Block *taken =
      node->blocks()[condition.constant()->toBool() ? 0 : 1];
  walkBlock(taken, env);
  for (auto [result, value] : llvm::zip(node->outputs(), taken->outputs()))
    env[result] = Thing(env[value]);
  return true;
}

void Walker::addOp(const jit::Node *node, Environment &env) {
  // Nested modules that each call their child twice grow exponentially.
  if (++opCount > 5'000'000)
    throw ArchiveError("the model runs more than 5,000,000 ops");
  Op op;
  op.kind = node->kind().toQualString();
  op.module = trace.modules[moduleIndex.lookup(self)].path;
  op.call = callNumber;
  op.source = modelSource(node->sourceRange());
  for (const jit::Value *value : node->inputs())
    op.inputs.push_back(argument(env[value]));
  for (const jit::Value *value : node->outputs()) {
    op.outputs.push_back(makeResult(value));
    env[value] = {Thing::Value{op.outputs.back().id}};
  }
  for (const jit::Block *block : node->blocks()) {
    Block &body = op.blocks.emplace_back();
    for (const jit::Value *value : block->inputs()) {
      body.inputs.push_back(makeResult(value));
      env[value] = {Thing::Value{body.inputs.back().id}};
    }
    llvm::SaveAndRestore saved(into, &body);
    walkBlock(block, env);
    for (const jit::Value *value : block->outputs())
      body.outputs.push_back(argument(env[value]));
  }
  into->ops.push_back(std::move(op));
}

Trace Walker::walk(const jit::Module &root) {
  addModules(c10::IValue(root._ivalue()), "");
  ObjectPtr object = root._ivalue().get();
  auto *forward = object->type()->findMethod("forward");
  if (!forward)
    throw ArchiveError("the module has no method 'forward'");
  std::vector<Thing> arguments = {{c10::IValue(root._ivalue())}};
  auto graph = jit::toGraphFunction(*forward).graph();
  for (const jit::Value *value : graph->inputs().slice(1))
    arguments.push_back(input(value, trace.body.inputs));
  flatten(call(object, *forward, std::move(arguments)), trace.body.outputs);
  return std::move(trace);
}

Trace htp::trace::traceTorchScript(Archive &archive, bool hash) {
  jit::Module root = loadTorchScript(archive);
  return Walker(archive, hash).walk(root);
}
