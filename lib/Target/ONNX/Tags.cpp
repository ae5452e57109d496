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
  Metadata(Attribute attr, MLIRContext *context) : context(context) {
    auto entries = dyn_cast_or_null<ArrayAttr>(attr);
    for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>())
      if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
        if (isa<StringAttr>(pair[0]) && isa<StringAttr>(pair[1]))
          list.push_back(pair);
  }

  /// The value of `key`, or null.
  StringAttr find(StringRef key) const {
    for (Attribute entry : list)
      if (keyOf(entry) == key)
        return cast<StringAttr>(cast<ArrayAttr>(entry)[1]);
    return {};
  }

  /// A key with its value, to be added to many lists.
  static Attribute pair(MLIRContext *context, StringRef key, StringRef value) {
    return ArrayAttr::get(context, {StringAttr::get(context, key),
                                    StringAttr::get(context, value)});
  }
  void add(Attribute pair) { list.push_back(pair); }
  void add(StringRef key, StringRef value) { add(pair(context, key, value)); }

  /// Drops what embedTags added.
  void removeOurs() {
    SmallVector<StringRef> added;
    if (StringAttr names = find(kAddedKey))
      names.getValue().split(added, ',');
    llvm::erase_if(list, [&](Attribute entry) {
      return isOurs(keyOf(entry)) || llvm::is_contained(added, keyOf(entry));
    });
  }

  /// Null where there is nothing.
  ArrayAttr get() const {
    return list.empty() ? ArrayAttr() : ArrayAttr::get(context, list);
  }

private:
  static StringRef keyOf(Attribute entry) {
    return cast<StringAttr>(cast<ArrayAttr>(entry)[0]).getValue();
  }

  MLIRContext *context;
  SmallVector<Attribute, 16> list; ///< arrays of two strings
};
} // namespace

static void setMetadata(Operation *op, const Metadata &metadata) {
  if (ArrayAttr attr = metadata.get())
    op->setAttr(kMetadataAttr, attr);
  else
    op->removeAttr(kMetadataAttr);
}

static void setMetadata(FunctionOpInterface function, unsigned argument,
                        const Metadata &metadata) {
  if (ArrayAttr attr = metadata.get())
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
  /// What the tags of one module have in common. Most nodes share theirs with
  /// others.
  struct Place {
    Attribute tag, scope; ///< as pairs
    bool severalCalls = false;
    /// The beginnings of what the torch.export-based exporter notes.
    std::string names = "[", classes = "[", spaces;
  };

  mlir::ModuleOp module;
  MLIRContext *context = module.getContext();
  TagStorage storage;
  ModuleTree tree;
  TagNames tags;
  /// By the module whose body the function is, and the path in a tag.
  llvm::DenseMap<Attribute, llvm::StringMap<Place>> places;

  StringRef tagOf(StringRef path) const {
    return tags[tree.find(path).value_or(tree.nearest(path))];
  }
  /// In an outlined function paths are relative to the module at `base`: tags
  /// then start with the class of that module.
  std::string relativeTag(StringRef base, StringRef path) const;
  std::string contexts(Operation *op, TagAttr tag) const;
  const Place &placeOf(StringAttr base, StringRef path);
  void addForeignKeys(Operation *op, const Place &place,
                      Metadata &metadata) const;
  void embedNode(Operation *op, TagAttr tag);
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

const Embedder::Place &Embedder::placeOf(StringAttr outlined, StringRef path) {
  auto [it, isNew] = places[outlined].try_emplace(path);
  Place &place = it->second;
  if (!isNew)
    return place;
  StringRef base = outlined ? outlined.getValue() : StringRef();
  ModuleFrame frame(base);
  place.tag =
      Metadata::pair(context, "htp.tag",
                     outlined ? relativeTag(base, path) : tagOf(path).str());
  place.scope = Metadata::pair(context, "htp.scope", path);
  std::string absolute = outlined ? frame.absolute(path) : path.str();
  std::optional<ModuleId> exact = tree.find(absolute);
  place.severalCalls = exact && tree[*exact].calls > 1;
  // The modules from the root down.
  ModuleId top = tree.nearest(base);
  SmallVector<ModuleId> stack;
  for (ModuleId id = tree.nearest(frame.absolute(path));;
       id = tree[id].parent) {
    stack.push_back(id);
    if (id == ModuleTree::root() || id == top)
      break;
  }
  for (ModuleId id : llvm::reverse(stack)) {
    std::string below = frame.relative(tree[id].path);
    StringRef qualified = tree[id].qualified;
    place.names += quoted(below) + ", ";
    place.classes += quoted(qualified) + ", ";
    place.spaces += below + ": " + qualified.str() + "/";
  }
  return place;
}

/// What the torch.export-based exporter notes: the modules from the root down,
/// and the node itself.
void Embedder::addForeignKeys(Operation *op, const Place &place,
                              Metadata &metadata) const {
  StringRef type = getOpType(op), name = getNodeName(op);
  if (name.empty())
    name = type;
  SmallVector<StringRef> added;
  auto addMissing = [&](StringRef key, const Twine &value) {
    if (metadata.find(key))
      return;
    SmallString<256> text;
    metadata.add(key, value.toStringRef(text));
    added.push_back(key);
  };
  addMissing("namespace", place.spaces + name + ": " + type);
  addMissing("pkg.torch.onnx.class_hierarchy",
             place.classes + quoted(type) + "]");
  addMissing("pkg.torch.onnx.name_scopes", place.names + quoted(name) + "]");
  if (!added.empty())
    metadata.add(kAddedKey, llvm::join(added, ","));
}

void Embedder::embedNode(Operation *op, TagAttr tag) {
  Metadata metadata(op->getAttr(kMetadataAttr), context);
  metadata.removeOurs();
  const Place &place = placeOf(outlinedModule(op), tag.getPath());
  metadata.add(place.tag);
  metadata.add(place.scope);
  if (tag.getCall() || place.severalCalls)
    metadata.add("htp.call", std::to_string(tag.getCall()));
  if (!tag.getEvidence().empty())
    metadata.add("htp.evidence", tag.getEvidence());
  metadata.add("htp.confidence", show(tag.getConfidenceValue()));
  if (!tag.getContexts().empty()) {
    metadata.add("htp.contexts", contexts(op, tag));
    if (!tag.getReason().empty())
      metadata.add("htp.reason", tag.getReason());
  }
  addForeignKeys(op, place, metadata);
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
    metadata.add("htp.parameter", path.getValue());
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
               llvm::formatv("{0}", llvm::json::Value(std::move(list))).str());
}

void Embedder::embedModel() {
  Metadata metadata(module->getAttr(kMetadataAttr), context);
  // Tagged before: the version before that is still the model's own.
  std::string version;
  if (StringAttr before = metadata.find(kIRVersionKey))
    version = before.str();
  metadata.removeOurs();
  metadata.add("htp.hierarchy", treeToJSON(tree));
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
      Metadata metadata(op->getAttr(kMetadataAttr), context);
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
    Metadata metadata(function.getArgAttr(i, kMetadataAttr), context);
    embedParameter(function.getArgument(i),
                   function.getArgAttr(i, kParameterAttr),
                   function.getArgAttr(i, kUsersAttr), metadata);
    setMetadata(function, i, metadata);
    function.removeArgAttr(i, kParameterAttr);
    function.removeArgAttr(i, kUsersAttr);
  });
  embedModel();
  module->walk([&](Operation *op) {
    NamedAttrList kept;
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (!llvm::is_contained({kTagAttr, kParameterAttr, kUsersAttr},
                              attr.getName().getValue()))
        kept.append(attr);
    if (kept.getAttrs().size() != op->getDiscardableAttrDictionary().size())
      op->setDiscardableAttrs(kept.getDictionary(context));
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
  Metadata model(module->getAttr(kMetadataAttr), module.getContext());
  int64_t version;
  if (StringAttr before = model.find(kIRVersionKey))
    if (auto current = module->getAttrOfType<IntegerAttr>(kIRVersion);
        current && !before.getValue().getAsInteger(10, version))
      module->setAttr(kIRVersion, IntegerAttr::get(current.getType(), version));
  auto remove = [&](Attribute attr) {
    Metadata metadata(attr, module.getContext());
    metadata.removeOurs();
    return metadata;
  };
  bool inAttributes = static_cast<bool>(model.find(kStorageKey));
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
  if (text.empty())
    return contexts;
  llvm::Expected<JSONDocument> document = parseJSON(text);
  if (!document) {
    llvm::consumeError(document.takeError());
    return contexts;
  }
  const JSONArray *list = document->root().getAsArray();
  for (const JSONValue &entry : list ? *list : JSONArray()) {
    const JSONObject *object = entry.getAsObject();
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
  if (!llvm::to_float(text("htp.confidence"), confidence))
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
    Metadata metadata(function.getArgAttr(i, kMetadataAttr),
                      module.getContext());
    if (StringAttr path = metadata.find(kParameterAttr))
      function.setArgAttr(i, kParameterAttr, path);
  });
  removeEmbeddedTags(module);
  toIR(**tree, module);
  return success();
}

} // namespace htp
