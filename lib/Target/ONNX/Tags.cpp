// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metadata of a file → HTP's attributes.

#include "HTP/Target/ONNX/Tags.h"

#include "Metadata.h"
#include "OutlinedTags.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/TreeJSON.h"
#include "HTP/Support/Parallel.h"

#include "llvm/ADT/StringSwitch.h"

#include <charconv>

using namespace mlir;

namespace htp {

/// Of the model: its module tree.
static constexpr StringLiteral kTreeKey = "htp.hierarchy";

using NodeVisitor = llvm::function_ref<void(Operation *, const Metadata &)>;
using ArgumentVisitor =
    llvm::function_ref<void(FunctionOpInterface, unsigned, const Metadata &)>;

/// Takes what embedTags added out of the model, and shows each list as it was:
/// a second way through all nodes would find none of them in the cache.
static void takeEmbedded(mlir::ModuleOp module, NodeVisitor visitNode,
                         ArgumentVisitor visitArgument) {
  Metadata model(module->getAttr(kMetadataAttr));
  int64_t version;
  if (StringAttr before = model.find(kIRVersionKey))
    if (auto current = module->getAttrOfType<IntegerAttr>(kIRVersion);
        current && !before.getValue().getAsInteger(10, version))
      module->setAttr(kIRVersion, IntegerAttr::get(current.getType(), version));
  bool inAttributes = static_cast<bool>(model.find(kStorageKey));
  auto name = StringAttr::get(module.getContext(), kMetadataAttr);
  module->walk([&](Operation *op) {
    if (Attribute attr = op->getAttr(kMetadataAttr)) {
      Metadata metadata(attr), rest = metadata;
      rest.removeOurs();
      rest.store(op, name);
      visitNode(op, metadata);
    }
    if (inAttributes && isNode(op)) {
      op->removeAttr(kSourceModule);
      op->removeAttr(kHierarchyTags);
    }
  });
  forEachArgument(module, [&](FunctionOpInterface function, unsigned i) {
    if (Attribute attr = function.getArgAttr(i, kMetadataAttr)) {
      Metadata metadata(attr), rest = metadata;
      rest.removeOurs();
      rest.store(function, i);
      visitArgument(function, i, metadata);
    }
  });
}

void removeEmbeddedTags(mlir::ModuleOp module) {
  takeEmbedded(
      module, [](Operation *, const Metadata &) {},
      [](FunctionOpInterface, unsigned, const Metadata &) {});
}

llvm::Expected<std::optional<ModuleTree>> embeddedTree(mlir::ModuleOp module) {
  StringAttr text = getMetadata(module, kTreeKey);
  if (!text)
    return std::nullopt;
  llvm::Expected<ModuleTree> tree = treeFromJSON(text);
  if (!tree)
    return tree.takeError();
  return std::optional(std::move(*tree));
}

/// The contexts as they stand in metadata; what is not that is left out.
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

namespace {
/// The metadata that a tag is made of; null or empty where it is missing.
struct TagText {
  explicit TagText(const Metadata &metadata);

  bool operator==(const TagText &other) const {
    return scope == other.scope && call == other.call &&
           evidence == other.evidence && confidence == other.confidence &&
           reason == other.reason && contexts == other.contexts;
  }

  StringAttr scope;
  StringRef call, evidence, confidence, reason, contexts;
};

/// Makes the tags of nodes in their order. Neighbours share a few, which are
/// looked up once.
class TagMaker {
public:
  TagAttr make(const TagText &text);

private:
  struct Made {
    TagText text;
    TagAttr tag;
  };
  SmallVector<Made, 4> last; ///< the latest first
};
} // namespace

/// In one go over the list: asking it for each key takes longer than making the
/// tag.
TagText::TagText(const Metadata &metadata) {
  for (Attribute entry : metadata.entries()) {
    StringRef key = Metadata::keyOf(entry);
    if (!key.consume_front("htp."))
      continue;
    if (key == "scope" && !scope)
      scope = Metadata::valueOf(entry);
    StringRef *text = llvm::StringSwitch<StringRef *>(key)
                          .Case("call", &call)
                          .Case("evidence", &evidence)
                          .Case("confidence", &confidence)
                          .Case("reason", &reason)
                          .Case("contexts", &contexts)
                          .Default(nullptr);
    if (StringAttr value = text ? Metadata::valueOf(entry) : StringAttr();
        value && !text->data())
      *text = value;
  }
}

/// `text` as a number; 1 where it is none.
static double readConfidence(StringRef text) {
  // Unlike strtod, this needs no copy of the text and no locale.
  double value = 1.0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end() ? value : 1.0;
}

static TagAttr makeTag(const TagText &text) {
  if (!text.scope)
    return {};
  int64_t call = 0;
  if (text.call.getAsInteger(10, call))
    call = 0;
  return TagAttr::get(text.scope, call, text.evidence,
                      readConfidence(text.confidence), text.reason,
                      readContexts(text.scope.getContext(), text.contexts));
}

TagAttr TagMaker::make(const TagText &text) {
  auto *known = llvm::find_if(
      last, [&](const Made &other) { return other.text == text; });
  if (known == last.end()) {
    if (last.size() == 4)
      last.pop_back();
    last.push_back({text, makeTag(text)});
    known = std::prev(last.end());
  }
  std::rotate(last.begin(), known, std::next(known));
  return last.front().tag;
}

TagAttr embeddedTag(Operation *op) {
  return makeTag(TagText(Metadata(op->getAttr(kMetadataAttr))));
}

LogicalResult liftTags(mlir::ModuleOp module) {
  return findHierarchy(module) ? success() : LogicalResult(liftTree(module));
}

FailureOr<std::optional<ModuleTree>> takeTree(mlir::ModuleOp module,
                                              bool scopes) {
  if (HierarchyOp hierarchy = findHierarchy(module))
    return std::optional(fromIR(hierarchy));
  StringAttr text = getMetadata(module, kTreeKey);
  if (!text)
    return std::optional<ModuleTree>();
  TagMaker tags;
  Tagger tagger;
  auto liftNode = [&](Operation *op, const Metadata &metadata) {
    if (!isInitializer(op)) {
      TagText text(metadata);
      TagAttr tag = tags.make(text);
      if (tag && scopes)
        tagger.setTag(op, tag);
      else if (tag)
        tagger.setTagOnly(op, tag);
    } else if (StringAttr path = metadata.find(kParameterAttr)) {
      op->setAttr(kParameterAttr, path);
    }
  };
  auto liftArgument = [](FunctionOpInterface function, unsigned i,
                         const Metadata &metadata) {
    if (StringAttr path = metadata.find(kParameterAttr))
      function.setArgAttr(i, kParameterAttr, path);
  };
  std::optional<llvm::Expected<ModuleTree>> tree;
  together([&] { tree.emplace(treeFromJSON(text)); },
           [&] {
             liftCallRecords(module);
             takeEmbedded(module, liftNode, liftArgument);
           });
  if (!*tree)
    return module.emitError("the module tree in the model's metadata: ")
           << llvm::toString(tree->takeError());
  return std::optional(std::move(**tree));
}

FailureOr<std::optional<ModuleTree>> liftTree(mlir::ModuleOp module) {
  FailureOr<std::optional<ModuleTree>> tree = takeTree(module, /*scopes=*/true);
  if (succeeded(tree) && *tree && !findHierarchy(module))
    toIR(**tree, module);
  return tree;
}

} // namespace htp
