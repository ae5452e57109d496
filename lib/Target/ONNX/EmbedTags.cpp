// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's attributes → metadata of the file.

#include "HTP/Target/ONNX/Tags.h"

#include "Metadata.h"
#include "OutlinedTags.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Hierarchy/Subtree.h"
#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace htp {

/// The first ir_version whose nodes and tensors may have metadata.
static constexpr int64_t kMetadataIRVersion = 10;

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

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// What the tags of one module have in common. Most nodes share theirs with
/// others.
struct Place {
  std::string tag;
  bool severalCalls = false;
  /// The beginnings of what the torch.export-based exporter notes.
  std::string names = "[", classes = "[", spaces;
};

/// The spelling of tags in a file.
class TagSpeller {
public:
  explicit TagSpeller(mlir::ModuleOp module)
      : tree(fromIR(module)), tags(tree, keepsTorchNN(module)) {}

  const ModuleTree &getTree() const { return tree; }

  StringRef tagOf(StringRef path) const {
    return tags[tree.find(path).value_or(tree.nearest(path))];
  }
  /// In an outlined function paths are relative to the module at `base`: tags
  /// then start with the class of that module.
  std::string relativeTag(StringRef base, StringRef path) const;
  /// `outlined` is the module whose body the node's function is, or null.
  const Place &placeOf(StringAttr outlined, StringRef path);

private:
  ModuleTree tree;
  TagNames tags;
  llvm::DenseMap<Attribute, llvm::StringMap<Place>> places;
};
} // namespace

std::string TagSpeller::relativeTag(StringRef base, StringRef path) const {
  std::string absolute = ModuleFrame(base).absolute(path);
  StringRef tag = tagOf(absolute);
  if (!pathWithin(base, absolute))
    return tag.str();
  tag.consume_front(tagOf(base));
  const Module &module = tree[tree.nearest(base)];
  return ("/" + module.className + tag).str();
}

/// Adds `text` as Python prints a string.
template <typename StringT> static void addQuoted(StringT &to, StringRef text) {
  to += '\'';
  for (char c : text) {
    if (c == '\'' || c == '\\')
      to += '\\';
    to += c;
  }
  to += '\'';
}

const Place &TagSpeller::placeOf(StringAttr outlined, StringRef path) {
  auto [it, isNew] = places[outlined].try_emplace(path);
  Place &place = it->second;
  if (!isNew)
    return place;
  StringRef base = outlined ? outlined.getValue() : StringRef();
  ModuleFrame frame(base);
  place.tag = outlined ? relativeTag(base, path) : tagOf(path).str();
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
    // Exporters do not note containers, which never run.
    if (tree[id].calls == 0 && tree[id].qualified.empty() &&
        id != stack.front())
      continue;
    std::string below = frame.relative(tree[id].path);
    StringRef qualified = tree[id].qualified;
    addQuoted(place.names, below);
    place.names += ", ";
    addQuoted(place.classes, qualified);
    place.classes += ", ";
    place.spaces += below + ": " + qualified.str() + "/";
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Nodes and initializers
//===----------------------------------------------------------------------===//

namespace {
/// Tells the exporter what tags say.
class TagMetadata : public MetadataSource {
public:
  TagMetadata(mlir::ModuleOp module, TagStorage storage)
      : storage(storage), speller(module) {}

  bool addMetadata(Operation *op, AddFn add) override;

  const TagSpeller &getSpeller() const { return speller; }
  /// A parameter's path and the tags of all modules that read it.
  void describeParameter(Value value, Attribute parameter, Attribute users,
                         AddFn add) const;

private:
  void describeNode(Operation *op, TagAttr tag, const Metadata &own, AddFn add);
  void addForeignKeys(Operation *op, const Place &place, const Metadata &own,
                      AddFn add) const;
  StringAttr outlinedModule(Operation *op);
  std::string contexts(StringAttr outlined, TagAttr tag) const;
  StringRef show(double confidence);

  TagStorage storage;
  TagSpeller speller;
  /// The answers that were given last: neighbours ask for the same.
  Operation *function = nullptr;
  StringAttr functionModule;
  llvm::DenseMap<uint64_t, std::string> confidences;
};
} // namespace

/// The module whose body the function around `op` is; null in the model itself.
StringAttr TagMetadata::outlinedModule(Operation *op) {
  auto around = op->getParentOfType<FunctionOpInterface>();
  if (around != function) {
    function = around;
    functionModule =
        around ? around->getAttrOfType<StringAttr>(kModuleAttr) : StringAttr();
  }
  return functionModule;
}

/// A confidence as people write it: 0.99, 1.
StringRef TagMetadata::show(double confidence) {
  std::string &text = confidences[llvm::bit_cast<uint64_t>(confidence)];
  if (text.empty())
    llvm::raw_string_ostream(text) << llvm::format("%.4g", confidence);
  return text;
}

std::string TagMetadata::contexts(StringAttr outlined, TagAttr tag) const {
  llvm::json::Array list;
  for (ContextAttr context : tag.getContexts())
    list.push_back(llvm::json::Object{
        {"tag", outlined ? speller.relativeTag(outlined, context.getPath())
                         : speller.tagOf(context.getPath()).str()},
        {"scope", context.getPath()},
        {"evidence", context.getEvidence()},
        {"confidence", context.getConfidenceValue()}});
  return llvm::formatv("{0}", llvm::json::Value(std::move(list)));
}

/// What the torch.export-based exporter notes: the modules from the root down,
/// and the node itself.
void TagMetadata::addForeignKeys(Operation *op, const Place &place,
                                 const Metadata &own, AddFn add) const {
  StringRef type = getOpType(op), name = getNodeName(op);
  if (name.empty())
    name = type;
  SmallString<128> added;
  SmallString<256> text;
  // Begins the value of a key that is missing; false if it is not.
  auto begin = [&](StringRef key, StringRef start) {
    if (own.find(key))
      return false;
    added += added.empty() ? "" : ",";
    added += key;
    text = start;
    return true;
  };
  if (StringRef key = "namespace"; begin(key, place.spaces)) {
    text += name;
    text += ": ";
    text += type;
    add(key, text);
  }
  if (StringRef key = "pkg.torch.onnx.class_hierarchy";
      begin(key, place.classes)) {
    addQuoted(text, type);
    text += ']';
    add(key, text);
  }
  if (StringRef key = "pkg.torch.onnx.name_scopes"; begin(key, place.names)) {
    addQuoted(text, name);
    text += ']';
    add(key, text);
  }
  if (!added.empty())
    add(kAddedKey, added);
}

void TagMetadata::describeNode(Operation *op, TagAttr tag, const Metadata &own,
                               AddFn add) {
  StringAttr outlined = outlinedModule(op);
  const Place &place = speller.placeOf(outlined, tag.getPath());
  add("htp.tag", place.tag);
  add("htp.scope", tag.getPath());
  if (tag.getCall() || place.severalCalls)
    add("htp.call", std::to_string(tag.getCall()));
  if (!tag.getEvidence().empty())
    add("htp.evidence", tag.getEvidence());
  add("htp.confidence", show(tag.getConfidenceValue()));
  if (!tag.getContexts().empty()) {
    add("htp.contexts", contexts(outlined, tag));
    if (!tag.getReason().empty())
      add("htp.reason", tag.getReason());
  }
  addForeignKeys(op, place, own, add);
}

void TagMetadata::describeParameter(Value value, Attribute parameter,
                                    Attribute users, AddFn add) const {
  if (auto path = dyn_cast_or_null<StringAttr>(parameter))
    add("htp.parameter", path.getValue());
  SmallVector<StringRef> readers = taggedReaders(value);
  if (auto paths = dyn_cast_or_null<ArrayAttr>(users); paths && readers.empty())
    for (auto path : paths.getAsRange<StringAttr>())
      readers.push_back(path);
  llvm::SmallSetVector<StringRef, 2> names;
  for (StringRef path : readers)
    names.insert(speller.tagOf(path));
  if (names.empty())
    return;
  llvm::json::Array list;
  for (StringRef name : names)
    list.push_back(name);
  add("htp.tags",
      llvm::formatv("{0}", llvm::json::Value(std::move(list))).str());
}

bool TagMetadata::addMetadata(Operation *op, AddFn add) {
  bool parameter = isInitializer(op) && op->getNumResults() == 1;
  TagAttr tag =
      parameter || storage == TagStorage::Attribute ? TagAttr() : getTag(op);
  if (!parameter && !tag && !hasCallRecord(op))
    return false;
  Metadata own(op->getAttr(kMetadataAttr));
  if (parameter || tag)
    own.removeOurs();
  for (Attribute entry : own.entries())
    if (StringAttr value = Metadata::valueOf(entry))
      add(Metadata::keyOf(entry), value);
  if (parameter)
    describeParameter(op->getResult(0), op->getAttr(kParameterAttr),
                      op->getAttr(kUsersAttr), add);
  if (tag)
    describeNode(op, tag, own, add);
  describeCallRecord(op, add);
  return true;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static void embedAttributes(mlir::ModuleOp module, const TagSpeller &speller) {
  Builder builder(module.getContext());
  forEachNode(module, [&](Operation *op) {
    TagAttr tag = getTag(op);
    if (!tag)
      return;
    op->setAttr(kSourceModule, builder.getStringAttr(tag.getPath()));
    llvm::SmallSetVector<StringRef, 4> names;
    names.insert(speller.tagOf(tag.getPath()));
    for (ContextAttr context : tag.getContexts())
      names.insert(speller.tagOf(context.getPath()));
    op->setAttr(kHierarchyTags, builder.getStrArrayAttr(names.getArrayRef()));
  });
}

static void embedArguments(mlir::ModuleOp module, const TagMetadata &tags) {
  forEachArgument(module, [&](FunctionOpInterface function, unsigned i) {
    Metadata metadata(function.getArgAttr(i, kMetadataAttr));
    metadata.removeOurs();
    tags.describeParameter(function.getArgument(i),
                           function.getArgAttr(i, kParameterAttr),
                           function.getArgAttr(i, kUsersAttr),
                           [&](StringRef key, StringRef value) {
                             metadata.add(module.getContext(), key, value);
                           });
    metadata.store(function, i);
  });
}

static void embedModel(mlir::ModuleOp module, const ModuleTree &tree,
                       TagStorage storage) {
  MLIRContext *context = module.getContext();
  Metadata metadata(module->getAttr(kMetadataAttr));
  // Tagged before: the version before that is still the model's own.
  std::string version;
  if (StringAttr before = metadata.find(kIRVersionKey))
    version = before.str();
  metadata.removeOurs();
  metadata.add(context, "htp.hierarchy", treeToJSON(tree));
  auto current = module->getAttrOfType<IntegerAttr>(kIRVersion);
  if (current && current.getValue().getSExtValue() < kMetadataIRVersion &&
      storage == TagStorage::Metadata) {
    version = std::to_string(current.getValue().getSExtValue());
    module->setAttr(kIRVersion,
                    IntegerAttr::get(current.getType(), kMetadataIRVersion));
  }
  if (storage == TagStorage::Attribute)
    metadata.add(context, kStorageKey, "attribute");
  if (!version.empty())
    metadata.add(context, kIRVersionKey, version);
  metadata.store(module, StringAttr::get(context, kMetadataAttr));
}

std::unique_ptr<MetadataSource> embedTags(mlir::ModuleOp module,
                                          TagStorage storage) {
  if (!findHierarchy(module))
    return nullptr;
  auto tags = std::make_unique<TagMetadata>(module, storage);
  if (storage == TagStorage::Attribute) {
    module.emitWarning("tags are stored as node attributes, which onnx.checker "
                       "and ONNX Runtime reject");
    embedAttributes(module, tags->getSpeller());
  }
  embedArguments(module, *tags);
  embedModel(module, tags->getSpeller().getTree(), storage);
  embedFunctionRecords(module);
  return tags;
}

} // namespace htp
