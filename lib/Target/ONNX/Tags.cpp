// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/ONNX/Tags.h"

#include "OutlinedTags.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/Subtree.h"
#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace htp {

static constexpr StringLiteral kIRVersion = "onnx.ir_version";
/// The first ir_version whose nodes and tensors may have metadata.
static constexpr int64_t kMetadataIRVersion = 10;

/// Notes to ourselves, for removeEmbeddedTags: the keys of other tools that we
/// added to this node, and the model's ir_version before.
static constexpr StringLiteral kAddedKey = "htp.added";
static constexpr StringLiteral kIRVersionKey = "htp.ir_version";
/// Set where tags are node attributes, with the names of those.
static constexpr StringLiteral kStorageKey = "htp.storage";
static constexpr StringLiteral kSourceModule = "source_module";
static constexpr StringLiteral kHierarchyTags = "hierarchy_tags";

static bool isOurs(StringRef key) { return key.starts_with("htp."); }

//===----------------------------------------------------------------------===//
// Metadata of one operation, argument or module
//===----------------------------------------------------------------------===//

namespace {
/// A list of keys and values in the order of the file.
class Metadata {
public:
  explicit Metadata(Attribute attr) {
    auto entries = dyn_cast_or_null<ArrayAttr>(attr);
    for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>())
      if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
        if (isa<StringAttr>(pair[0]) && isa<StringAttr>(pair[1]))
          list.emplace_back(cast<StringAttr>(pair[0]).str(),
                            cast<StringAttr>(pair[1]).str());
  }

  const std::string *find(StringRef key) const {
    for (const auto &[name, value] : list)
      if (name == key)
        return &value;
    return nullptr;
  }

  void add(StringRef key, std::string value) {
    list.emplace_back(key.str(), std::move(value));
  }

  /// Drops what embedTags added.
  void removeOurs() {
    SmallVector<StringRef> added;
    std::string names;
    if (const std::string *value = find(kAddedKey)) {
      names = *value;
      StringRef(names).split(added, ',');
    }
    llvm::erase_if(list, [&](const auto &entry) {
      return isOurs(entry.first) || llvm::is_contained(added, entry.first);
    });
  }

  /// Null where there is nothing.
  ArrayAttr get(MLIRContext *context) const {
    if (list.empty())
      return {};
    SmallVector<Attribute> entries;
    for (const auto &[name, value] : list)
      entries.push_back(
          ArrayAttr::get(context, {StringAttr::get(context, name),
                                   StringAttr::get(context, value)}));
    return ArrayAttr::get(context, entries);
  }

private:
  SmallVector<std::pair<std::string, std::string>> list;
};
} // namespace

static void setMetadata(Operation *op, const Metadata &metadata) {
  if (ArrayAttr attr = metadata.get(op->getContext()))
    op->setAttr(kMetadataAttr, attr);
  else
    op->removeAttr(kMetadataAttr);
}

static void setMetadata(FunctionOpInterface function, unsigned argument,
                        const Metadata &metadata) {
  if (ArrayAttr attr = metadata.get(function->getContext()))
    function.setArgAttr(argument, kMetadataAttr, attr);
  else
    function.removeArgAttr(argument, kMetadataAttr);
}

/// Calls `visit` for every argument of every function with a body.
static void
forEachArgument(mlir::ModuleOp module,
                llvm::function_ref<void(FunctionOpInterface, unsigned)> visit) {
  module->walk([&](FunctionOpInterface function) {
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      visit(function, i);
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A confidence as people write it: 0.99, 1.
static std::string show(double confidence) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", confidence);
  return text;
}

SmallVector<StringRef> taggedReaders(Value value) {
  llvm::SetVector<StringRef> readers;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (TagAttr tag = getTag(user); tag && !isCopy(user))
        readers.insert(tag.getPath());
      if (isCopy(user))
        llvm::append_range(worklist, user->getResults());
    }
  // What only copies read is read by their modules.
  if (readers.empty())
    for (Operation *user : value.getUsers())
      if (TagAttr tag = getTag(user))
        readers.insert(tag.getPath());
  SmallVector<StringRef> sorted = readers.takeVector();
  llvm::sort(sorted); // users are not in the order of the graph
  return sorted;
}

namespace {
/// Turns HTP's attributes into metadata.
class Embedder {
public:
  Embedder(mlir::ModuleOp module, TagStorage storage)
      : module(module), storage(storage), tree(fromIR(module)),
        tags(tree, keepsTorchNN(module)) {}

  void run();

private:
  mlir::ModuleOp module;
  TagStorage storage;
  ModuleTree tree;
  TagNames tags;

  StringRef tagOf(StringRef path) const {
    return tags[tree.find(path).value_or(tree.nearest(path))];
  }
  /// In an outlined function paths are relative to the module at `base`: tags
  /// then start with the class of that module.
  std::string relativeTag(StringRef base, StringRef path) const;
  std::string contexts(Operation *op, TagAttr tag) const;
  void addForeignKeys(Operation *op, TagAttr tag, Metadata &metadata) const;
  void embedNode(Operation *op, TagAttr tag) const;
  void embedAttributes(Operation *op, TagAttr tag) const;
  void embedParameter(Value value, Attribute parameter, Attribute users,
                      Metadata &metadata) const;
  void embedModel();
};
} // namespace

/// The module whose body the function around `op` is; null in the model itself.
static StringAttr outlinedModule(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function->getAttrOfType<StringAttr>(kModuleAttr)
                  : StringAttr();
}

std::string Embedder::relativeTag(StringRef base, StringRef path) const {
  std::string absolute = ModuleFrame(base).absolute(path);
  StringRef tag = tagOf(absolute);
  if (!pathWithin(base, absolute))
    return tag.str();
  tag.consume_front(tagOf(base));
  const Module &module = tree[tree.nearest(base)];
  return ("/" + module.className + tag).str();
}

std::string Embedder::contexts(Operation *op, TagAttr tag) const {
  llvm::json::Array list;
  StringAttr base = outlinedModule(op);
  for (ContextAttr context : tag.getContexts())
    list.push_back(
        llvm::json::Object{{"tag", base ? relativeTag(base, context.getPath())
                                        : tagOf(context.getPath()).str()},
                           {"scope", context.getPath()},
                           {"evidence", context.getEvidence()},
                           {"confidence", context.getConfidenceValue()}});
  return llvm::formatv("{0}", llvm::json::Value(std::move(list)));
}

/// `text` as Python prints a string.
static std::string quoted(StringRef text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "'";
}

/// What the torch.export-based exporter notes: the modules from the root down,
/// and the node itself.
void Embedder::addForeignKeys(Operation *op, TagAttr tag,
                              Metadata &metadata) const {
  StringAttr outlined = outlinedModule(op);
  StringRef base = outlined ? outlined.getValue() : StringRef();
  ModuleId top = tree.nearest(base);
  SmallVector<ModuleId> stack;
  for (ModuleId id = tree.nearest(ModuleFrame(base).absolute(tag.getPath()));;
       id = tree[id].parent) {
    stack.push_back(id);
    if (id == ModuleTree::root() || id == top)
      break;
  }
  std::string names = "[", classes = "[", spaces;
  for (ModuleId id : llvm::reverse(stack)) {
    std::string path = ModuleFrame(base).relative(tree[id].path);
    StringRef qualified = tree[id].qualified;
    names += quoted(path) + ", ";
    classes += quoted(qualified) + ", ";
    spaces += path + ": " + qualified.str() + "/";
  }
  StringRef name = getNodeName(op).empty() ? getOpType(op) : getNodeName(op);
  names += quoted(name) + "]";
  classes += quoted(getOpType(op)) + "]";
  spaces += (name + ": " + getOpType(op)).str();

  SmallVector<StringRef> added;
  auto addMissing = [&](StringRef key, std::string value) {
    if (metadata.find(key))
      return;
    metadata.add(key, std::move(value));
    added.push_back(key);
  };
  addMissing("namespace", spaces);
  addMissing("pkg.torch.onnx.class_hierarchy", classes);
  addMissing("pkg.torch.onnx.name_scopes", names);
  if (!added.empty())
    metadata.add(kAddedKey, llvm::join(added, ","));
}

void Embedder::embedNode(Operation *op, TagAttr tag) const {
  Metadata metadata(op->getAttr(kMetadataAttr));
  metadata.removeOurs();
  StringAttr base = outlinedModule(op);
  metadata.add("htp.tag", base ? relativeTag(base, tag.getPath())
                               : tagOf(tag.getPath()).str());
  metadata.add("htp.scope", tag.getPath().str());
  std::optional<ModuleId> id = tree.find(
      base ? ModuleFrame(base).absolute(tag.getPath()) : tag.getPath().str());
  if (tag.getCall() || (id && tree[*id].calls > 1))
    metadata.add("htp.call", std::to_string(tag.getCall()));
  if (!tag.getEvidence().empty())
    metadata.add("htp.evidence", tag.getEvidence().str());
  metadata.add("htp.confidence", show(tag.getConfidenceValue()));
  if (!tag.getContexts().empty()) {
    metadata.add("htp.contexts", contexts(op, tag));
    if (!tag.getReason().empty())
      metadata.add("htp.reason", tag.getReason().str());
  }
  addForeignKeys(op, tag, metadata);
  setMetadata(op, metadata);
}

void Embedder::embedAttributes(Operation *op, TagAttr tag) const {
  Builder builder(op->getContext());
  op->setAttr(kSourceModule, builder.getStringAttr(tag.getPath()));
  SmallVector<StringRef> names = {tagOf(tag.getPath())};
  for (ContextAttr context : tag.getContexts())
    if (!llvm::is_contained(names, tagOf(context.getPath())))
      names.push_back(tagOf(context.getPath()));
  op->setAttr(kHierarchyTags, builder.getStrArrayAttr(names));
}

/// A parameter's path and the tags of all modules that read it.
void Embedder::embedParameter(Value value, Attribute parameter, Attribute users,
                              Metadata &metadata) const {
  metadata.removeOurs();
  if (auto path = dyn_cast_or_null<StringAttr>(parameter))
    metadata.add("htp.parameter", path.str());
  SmallVector<StringRef> readers = taggedReaders(value);
  if (auto paths = dyn_cast_or_null<ArrayAttr>(users); paths && readers.empty())
    for (auto path : paths.getAsRange<StringAttr>())
      readers.push_back(path);
  llvm::SetVector<StringRef> names;
  for (StringRef path : readers)
    names.insert(tagOf(path));
  if (names.empty())
    return;
  llvm::json::Array list;
  for (StringRef name : names)
    list.push_back(name);
  metadata.add("htp.tags",
               llvm::formatv("{0}", llvm::json::Value(std::move(list))));
}

void Embedder::embedModel() {
  Metadata metadata(module->getAttr(kMetadataAttr));
  // Tagged before: the version before that is still the model's own.
  std::string version;
  if (const std::string *before = metadata.find(kIRVersionKey))
    version = *before;
  metadata.removeOurs();
  metadata.add("htp.hierarchy", llvm::formatv("{0}", treeToJSON(tree)));
  auto current = module->getAttrOfType<IntegerAttr>(kIRVersion);
  if (current && current.getValue().getSExtValue() < kMetadataIRVersion &&
      storage == TagStorage::Metadata) {
    version = std::to_string(current.getValue().getSExtValue());
    module->setAttr(kIRVersion,
                    IntegerAttr::get(current.getType(), kMetadataIRVersion));
  }
  if (storage == TagStorage::Attribute)
    metadata.add(kStorageKey, "attribute");
  if (!version.empty())
    metadata.add(kIRVersionKey, version);
  setMetadata(module, metadata);
}

void Embedder::run() {
  module->walk([&](Operation *op) {
    if (isInitializer(op) && op->getNumResults() == 1) {
      Metadata metadata(op->getAttr(kMetadataAttr));
      embedParameter(op->getResult(0), op->getAttr(kParameterAttr),
                     op->getAttr(kUsersAttr), metadata);
      setMetadata(op, metadata);
    } else if (TagAttr tag = isNode(op) ? getTag(op) : TagAttr()) {
      if (storage == TagStorage::Attribute)
        embedAttributes(op, tag);
      else
        embedNode(op, tag);
    }
  });
  forEachArgument(module, [&](FunctionOpInterface function, unsigned i) {
    Metadata metadata(function.getArgAttr(i, kMetadataAttr));
    embedParameter(function.getArgument(i),
                   function.getArgAttr(i, kParameterAttr),
                   function.getArgAttr(i, kUsersAttr), metadata);
    setMetadata(function, i, metadata);
    function.removeArgAttr(i, kParameterAttr);
    function.removeArgAttr(i, kUsersAttr);
  });
  embedModel();
  module->walk([&](Operation *op) {
    op->removeAttr(kTagAttr);
    op->removeAttr(kParameterAttr);
    op->removeAttr(kUsersAttr);
    op->setLoc(stripScopes(op->getLoc()));
  });
  findHierarchy(module).erase();
  embedCallRecords(module);
}

void embedTags(mlir::ModuleOp module, TagStorage storage) {
  if (!findHierarchy(module))
    return;
  if (storage == TagStorage::Attribute)
    module.emitWarning("tags are stored as node attributes, which onnx.checker "
                       "and ONNX Runtime reject");
  Embedder(module, storage).run();
}

//===----------------------------------------------------------------------===//
// Removing and reading
//===----------------------------------------------------------------------===//

void removeEmbeddedTags(mlir::ModuleOp module) {
  Metadata model(module->getAttr(kMetadataAttr));
  int64_t version;
  if (const std::string *before = model.find(kIRVersionKey))
    if (auto current = module->getAttrOfType<IntegerAttr>(kIRVersion);
        current && !StringRef(*before).getAsInteger(10, version))
      module->setAttr(kIRVersion, IntegerAttr::get(current.getType(), version));
  auto remove = [](Attribute attr) {
    Metadata metadata(attr);
    metadata.removeOurs();
    return metadata;
  };
  bool inAttributes = model.find(kStorageKey);
  module->walk([&](Operation *op) {
    if (Attribute attr = op->getAttr(kMetadataAttr))
      setMetadata(op, remove(attr));
    if (inAttributes && isNode(op)) {
      op->removeAttr(kSourceModule);
      op->removeAttr(kHierarchyTags);
    }
  });
  forEachArgument(module, [&](FunctionOpInterface function, unsigned i) {
    if (Attribute attr = function.getArgAttr(i, kMetadataAttr))
      setMetadata(function, i, remove(attr));
  });
}

llvm::Expected<std::optional<ModuleTree>> embeddedTree(mlir::ModuleOp module) {
  StringAttr text = getMetadata(module, "htp.hierarchy");
  if (!text)
    return std::nullopt;
  llvm::Expected<ModuleTree> tree = treeFromJSON(text);
  if (!tree)
    return tree.takeError();
  return std::optional(std::move(*tree));
}

/// The contexts that embedNode wrote; what is not that is left out.
static SmallVector<ContextAttr> readContexts(MLIRContext *context,
                                             StringRef text) {
  SmallVector<ContextAttr> contexts;
  llvm::Expected<llvm::json::Value> value = parseJSON(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return contexts;
  }
  const llvm::json::Array *list = value->getAsArray();
  for (const llvm::json::Value &entry : list ? *list : llvm::json::Array()) {
    const llvm::json::Object *object = entry.getAsObject();
    auto scope = object ? object->getString("scope") : std::nullopt;
    if (!scope)
      continue;
    contexts.push_back(ContextAttr::get(
        context, *scope, object->getString("evidence").value_or(""),
        object->getNumber("confidence").value_or(1.0)));
  }
  return contexts;
}

TagAttr embeddedTag(Operation *op) {
  StringAttr scope = getMetadata(op, "htp.scope");
  if (!scope)
    return {};
  auto text = [&](StringRef key) {
    StringAttr value = getMetadata(op, key);
    return value ? value.getValue() : StringRef();
  };
  int64_t call = 0;
  double confidence = 1.0;
  if (text("htp.call").getAsInteger(10, call))
    call = 0;
  if (text("htp.confidence").getAsDouble(confidence))
    confidence = 1.0;
  return TagAttr::get(op->getContext(), scope, call, text("htp.evidence"),
                      confidence, text("htp.reason"),
                      readContexts(op->getContext(), text("htp.contexts")));
}

LogicalResult liftTags(mlir::ModuleOp module) {
  if (findHierarchy(module))
    return success();
  llvm::Expected<std::optional<ModuleTree>> tree = embeddedTree(module);
  if (!tree)
    return module.emitError("the module tree in the model's metadata: ")
           << llvm::toString(tree.takeError());
  if (!*tree)
    return success();
  liftCallRecords(module);
  module->walk([&](Operation *op) {
    if (!isInitializer(op)) {
      if (TagAttr tag = embeddedTag(op))
        setTag(op, tag);
    } else if (StringAttr path = getMetadata(op, kParameterAttr)) {
      op->setAttr(kParameterAttr, path);
    }
  });
  forEachArgument(module, [&](FunctionOpInterface function, unsigned i) {
    Metadata metadata(function.getArgAttr(i, kMetadataAttr));
    if (const std::string *path = metadata.find(kParameterAttr))
      function.setArgAttr(i, kParameterAttr,
                          StringAttr::get(module.getContext(), *path));
  });
  removeEmbeddedTags(module);
  toIR(**tree, module);
  return success();
}

} // namespace htp
