// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts HTP's attributes to a file's metadata during export.

#include "HTP/Target/TagMetadata.h"

#include "AttributeText.h"
#include "Keys.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Hierarchy/Subtree.h"
#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace htp {

/// The first ir_version that allows metadata on nodes and tensors.
static constexpr int64_t kMetadataIRVersion = 10;
static constexpr StringLiteral kIRVersionAttr = "onnx.ir_version";

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// The parts of metadata that all nodes of one module share, computed once.
struct Place {
  std::string tag;
  bool severalCalls = false;
  /// The number of the module in the tree; none if the path is relative or not
  /// in the tree.
  std::optional<ModuleId> id;
  /// Prefixes of the values that the torch.export-based exporter writes; empty
  /// for a module that is nested too deeply.
  std::string names, classes, spaces;
};

/// A node's foreign keys contain the path of each enclosing module, which is
/// cubic in the depth over all modules. Real models are not this deep.
constexpr uint32_t kDeepestNoted = 64;

/// Computes the written form of tags.
class TagSpeller {
public:
  explicit TagSpeller(mlir::ModuleOp module)
      : tree(fromIR(module)), tags(tree, keepsTorchNN(module)) {}

  const ModuleTree &getTree() const { return tree; }

  StringRef tagOf(StringRef path) const {
    return tags[tree.find(path).value_or(tree.nearest(path))];
  }
  /// The tag in an outlined function, where paths are relative to the module at
  /// `base` and tags start with that module's class.
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

/// Appends `text` in Python's string syntax.
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
  if (!outlined)
    place.id = exact;
  // Collect the modules from the root down.
  ModuleId top = tree.nearest(base);
  SmallVector<ModuleId> stack;
  for (ModuleId id = tree.nearest(frame.absolute(path));;
       id = tree[id].parent) {
    stack.push_back(id);
    if (id == ModuleTree::root() || id == top)
      break;
  }
  if (stack.size() > kDeepestNoted)
    return place;
  place.names = place.classes = "[";
  for (ModuleId id : llvm::reverse(stack)) {
    // Exporters skip containers, which never run.
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
// TagWriter
//===----------------------------------------------------------------------===//

namespace {
class TagWriter : public MetadataSource {
public:
  TagWriter(mlir::ModuleOp module, TagStorage storage);

  void addMetadata(Operation *op, AddFn add) override;
  void addMetadata(BlockArgument input, AddFn add) override;
  bool owns(StringRef key) const override {
    return key.starts_with(kOurPrefix);
  }
  int64_t minIRVersion() const override {
    return storage == TagStorage::Attribute ? 0 : kMetadataIRVersion;
  }

  /// Implements TagStorage::Attribute.
  void setNodeAttributes();

private:
  void describeModel(AddFn add);
  void describeFunction(func::FuncOp function, AddFn add);
  void describeNode(Operation *op, TagAttr tag, AddFn add);
  void describeParameter(Value value, Attribute parameter, Attribute users,
                         AddFn add) const;
  void addForeignKeys(Operation *op, const Place &place, AddFn add) const;
  StringAttr outlinedModule(Operation *op);
  std::string contexts(StringAttr outlined, TagAttr tag) const;
  StringRef show(double confidence);

  mlir::ModuleOp module;
  TagStorage storage;
  TagSpeller speller;
  bool hasOutlined;
  /// Caches of the last answers, as neighbours ask the same questions.
  Operation *function = nullptr;
  StringAttr functionModule;
  llvm::DenseMap<uint64_t, std::string> confidences;
};
} // namespace

TagWriter::TagWriter(mlir::ModuleOp module, TagStorage storage)
    : module(module), storage(storage), speller(module) {
  auto isOutlined = [](func::FuncOp function) {
    return function->hasAttr(kModuleAttr);
  };
  hasOutlined = llvm::any_of(module.getOps<func::FuncOp>(), isOutlined);
  const ModuleTree &tree = speller.getTree();
  size_t deep = llvm::count_if(
      tree.ids(), [&](ModuleId id) { return tree[id].depth >= kDeepestNoted; });
  if (deep && storage == TagStorage::Metadata)
    module.emitWarning()
        << deep << " modules lie more than " << kDeepestNoted
        << " levels deep: the keys that other tools read (namespace, "
           "pkg.torch.onnx.…) are left out of their nodes";
}

static std::string listOf(ArrayRef<StringRef> texts) {
  llvm::json::Array list;
  for (StringRef text : texts)
    list.push_back(text);
  return llvm::formatv("{0}", llvm::json::Value(std::move(list)));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The module that the outlined function around `op` is the body of; null
/// outside of outlined functions.
StringAttr TagWriter::outlinedModule(Operation *op) {
  auto around = op->getParentOfType<FunctionOpInterface>();
  if (around != function) {
    function = around;
    functionModule =
        around ? around->getAttrOfType<StringAttr>(kModuleAttr) : StringAttr();
  }
  return functionModule;
}

/// A confidence in its shortest form: 0.99, 1.
StringRef TagWriter::show(double confidence) {
  std::string &text = confidences[llvm::bit_cast<uint64_t>(confidence)];
  if (text.empty())
    llvm::raw_string_ostream(text) << llvm::format("%.4g", confidence);
  return text;
}

std::string TagWriter::contexts(StringAttr outlined, TagAttr tag) const {
  llvm::json::Array list;
  for (ContextAttr context : tag.getContexts()) {
    llvm::json::Object entry{
        {"scope", context.getPath()},
        {"evidence", stringifyEvidence(context.getEvidence())},
        {"confidence", context.getConfidenceValue()}};
    if (storage != TagStorage::Compact)
      entry["tag"] = outlined ? speller.relativeTag(outlined, context.getPath())
                              : speller.tagOf(context.getPath()).str();
    list.push_back(std::move(entry));
  }
  return llvm::formatv("{0}", llvm::json::Value(std::move(list)));
}

/// Adds the keys of the torch.export-based exporter: the modules from the root
/// down, and the node itself.
void TagWriter::addForeignKeys(Operation *op, const Place &place,
                               AddFn add) const {
  SmallVector<StringRef, 8> present;
  forEachMetadata(op->getAttr(kMetadataAttr),
                  [&](StringRef key, StringAttr) { present.push_back(key); });
  StringRef type = getOpType(op), name = getNodeName(op);
  if (name.empty())
    name = type;
  SmallString<128> added;
  SmallString<256> text;
  // Starts the value of a missing key; false if the key is present.
  auto begin = [&](StringRef key, StringRef start) {
    if (llvm::is_contained(present, key))
      return false;
    added += added.empty() ? "" : ",";
    added += key;
    text = start;
    return true;
  };
  // Without the node: Model Explorer shows a layer for every part, and a node's
  // name may contain slashes.
  if (StringRef key = "namespace";
      begin(key, StringRef(place.spaces).rtrim('/')))
    add(key, text);
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

void TagWriter::describeNode(Operation *op, TagAttr tag, AddFn add) {
  StringAttr outlined = outlinedModule(op);
  const Place &place = speller.placeOf(outlined, tag.getPath());
  bool isCompact = storage == TagStorage::Compact;
  if (!isCompact)
    add(kTagKey, place.tag);
  if (isCompact && place.id)
    add(kIdKey, std::to_string(*place.id));
  else
    add(kScopeKey, tag.getPath());
  if (tag.getCall() || place.severalCalls)
    add(kCallKey, std::to_string(tag.getCall()));
  if (tag.getEvidence() != Evidence::None)
    add(kEvidenceKey, stringifyEvidence(tag.getEvidence()));
  add(kConfidenceKey, show(tag.getConfidenceValue()));
  if (!tag.getContexts().empty()) {
    add(kContextsKey, contexts(outlined, tag));
    if (!tag.getReason().empty())
      add(kReasonKey, tag.getReason());
  }
  if (!isCompact && !place.names.empty())
    addForeignKeys(op, place, add);
}

/// The attributes that outlining recorded on `op`.
static SmallVector<std::pair<StringRef, Attribute>, 2> recordOf(Operation *op) {
  SmallVector<std::pair<StringRef, Attribute>, 2> record;
  if (isa<func::CallOp>(op) || isConstant(op))
    for (StringRef key : kRecordKeys)
      if (Attribute attribute = op->getAttr(key))
        record.push_back({key, attribute});
  return record;
}

void TagWriter::addMetadata(Operation *op, AddFn add) {
  if (op == module)
    return describeModel(add);
  if (auto function = dyn_cast<func::FuncOp>(op))
    return describeFunction(function, add);
  bool parameter = isInitializer(op) && op->getNumResults() == 1;
  TagAttr tag =
      parameter || storage == TagStorage::Attribute ? TagAttr() : getTag(op);
  if (parameter)
    describeParameter(op->getResult(0), op->getAttr(kParameterAttr),
                      op->getAttr(kUsersAttr), add);
  if (tag)
    describeNode(op, tag, add);
  for (auto [key, attribute] : recordOf(op))
    add(key, attributeToText(attribute));
}

//===----------------------------------------------------------------------===//
// Parameters, functions, the model
//===----------------------------------------------------------------------===//

/// Adds a parameter's path and the tags of all modules that read it.
void TagWriter::describeParameter(Value value, Attribute parameter,
                                  Attribute users, AddFn add) const {
  if (auto path = dyn_cast_or_null<StringAttr>(parameter))
    add(kParameterAttr, path.getValue());
  SmallVector<StringRef> readers = taggedReaders(value), possible;
  // The dialect verifies attributes of operations, but not of arguments.
  if (auto paths = dyn_cast_or_null<ArrayAttr>(users))
    for (Attribute path : paths)
      if (auto text = dyn_cast<StringAttr>(path))
        possible.push_back(text);
  // If no tagged node reads it, fall back on the candidates.
  if (readers.empty())
    readers = possible;
  llvm::SmallSetVector<StringRef, 2> names;
  for (StringRef path : readers)
    names.insert(speller.tagOf(path));
  if (!names.empty() && storage != TagStorage::Compact)
    add(kTagsKey, listOf(names.getArrayRef()));
  if (!possible.empty())
    add(kUsersAttr, listOf(possible));
}

void TagWriter::addMetadata(BlockArgument input, AddFn add) {
  auto function =
      dyn_cast<FunctionOpInterface>(input.getOwner()->getParentOp());
  if (!function)
    return;
  unsigned index = input.getArgNumber();
  describeParameter(input, function.getArgAttr(index, kParameterAttr),
                    function.getArgAttr(index, kUsersAttr), add);
}

/// A list of value infos without what the graph in the file states itself.
static Attribute withoutStatedTypes(Attribute infos) {
  auto list = dyn_cast<ArrayAttr>(infos);
  SmallVector<Attribute> entries;
  for (Attribute info : list ? list.getValue() : ArrayRef<Attribute>()) {
    if (auto fields = dyn_cast<DictionaryAttr>(info);
        fields && fields.contains(kStatedType)) {
      NamedAttrList left(fields);
      left.erase(kStatedType);
      info = left.getAttrs().size() == 1
                 ? fields.get("name")
                 : left.getDictionary(info.getContext());
    }
    entries.push_back(info);
  }
  return list ? ArrayAttr::get(infos.getContext(), entries) : infos;
}

void TagWriter::describeFunction(func::FuncOp function, AddFn add) {
  auto module = function->getAttrOfType<StringAttr>(kModuleAttr);
  // value_info in the file covers the graph's own values only. Keep the full
  // list as metadata until values return from outlined functions.
  if (Attribute infos = function->getAttr("onnx.value_info");
      infos && hasOutlined && !module)
    add(kValueInfoKey, attributeToText(withoutStatedTypes(infos)));
  if (module)
    add(kModuleAttr, module);
  for (StringRef key : {kOrderAttr, kPositionsAttr})
    if (Attribute places = function->getAttr(key))
      add(key, attributeToText(places));
}

void TagWriter::describeModel(AddFn add) {
  add(kTreeKey, treeToJSON(speller.getTree()));
  if (storage == TagStorage::Attribute)
    add(kStorageKey, "attribute");
  auto version = module->getAttrOfType<IntegerAttr>(kIRVersionAttr);
  if (version && version.getValue().getSExtValue() < minIRVersion())
    add(kIRVersionKey, std::to_string(version.getValue().getSExtValue()));
  if (keepsTorchNN(module))
    add(kTorchNNKey, "true");
}

void TagWriter::setNodeAttributes() {
  module.emitWarning("tags are stored as node attributes, which onnx.checker "
                     "and ONNX Runtime reject");
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

std::unique_ptr<MetadataSource> writeTags(mlir::ModuleOp module,
                                          TagStorage storage) {
  assert(storage != TagStorage::None && "nothing is written then");
  if (!findHierarchy(module))
    return nullptr;
  auto tags = std::make_unique<TagWriter>(module, storage);
  if (storage == TagStorage::Attribute)
    tags->setNodeAttributes();
  return tags;
}

} // namespace htp
