// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a file's metadata to HTP's attributes during import.

#include "HTP/Target/TagMetadata.h"

#include "AttributeText.h"
#include "Keys.h"
#include "RestoreCalls.h"

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/TreeJSON.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <charconv>
#include <set>

using namespace mlir;

namespace htp {

using Entry = MetadataSink::Entry;
using Entries = MetadataSink::Entries;

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

namespace {
/// The metadata of one tag; null views for missing keys.
struct TagText {
  StringRef scope, id, call, evidence, confidence, reason, contexts;

  /// The field for the value of `key`; null if it is not part of a tag.
  StringRef *find(StringRef key) {
    return llvm::StringSwitch<StringRef *>(key)
        .Case(kScopeKey, &scope)
        .Case(kIdKey, &id)
        .Case(kCallKey, &call)
        .Case(kEvidenceKey, &evidence)
        .Case(kConfidenceKey, &confidence)
        .Case(kReasonKey, &reason)
        .Case(kContextsKey, &contexts)
        .Default(nullptr);
  }

  bool operator==(const TagText &other) const {
    return scope == other.scope && id == other.id && call == other.call &&
           evidence == other.evidence && confidence == other.confidence &&
           reason == other.reason && contexts == other.contexts;
  }
};

/// A tag and a location with the same scope.
struct MadeTag {
  TagAttr tag;
  LocationAttr loc;
};

/// Makes the tags of nodes in file order. Neighbours often have equal tags, so
/// the last few are cached.
class TagMaker {
public:
  explicit TagMaker(MLIRContext *context) : context(context) {}
  MadeTag &make(const TagText &text);

  /// Kinds of evidence that this version of HTP does not know.
  std::set<std::string> unknownEvidence;

private:
  Evidence readEvidence(StringRef text);
  SmallVector<ContextAttr> readContexts(StringRef text);
  TagAttr makeTag(const TagText &text);

  MLIRContext *context;
  SmallVector<std::pair<TagText, MadeTag>, 4> last; ///< most recent first
};
} // namespace

/// Parses a confidence: 1 if missing, 0 if it is not a number from 0 to 1.
static double readConfidence(StringRef text) {
  if (text.empty())
    return 1.0;
  // Unlike strtod, this needs no copy of the text and ignores the locale.
  double value = 0.0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  bool isShare =
      error == std::errc() && end == text.end() && value >= 0.0 && value <= 1.0;
  return isShare ? value : 0.0;
}

/// Parses evidence; records unknown kinds.
Evidence TagMaker::readEvidence(StringRef text) {
  std::optional<Evidence> known = symbolizeEvidence(text);
  if (!known)
    unknownEvidence.insert(text.str());
  return known.value_or(Evidence::None);
}

/// Parses contexts; malformed entries are dropped.
SmallVector<ContextAttr> TagMaker::readContexts(StringRef text) {
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
    double confidence = object->getNumber("confidence").value_or(1.0);
    if (!(confidence >= 0.0 && confidence <= 1.0))
      confidence = 0.0;
    contexts.push_back(ContextAttr::get(
        context, *scope,
        readEvidence(object->getString("evidence").value_or("")), confidence));
  }
  return contexts;
}

/// Null if there is no scope at all (an empty one is the root).
TagAttr TagMaker::makeTag(const TagText &text) {
  if (!text.scope.data())
    return {};
  int64_t call = 0;
  if (text.call.getAsInteger(10, call) || call < 0)
    call = 0;
  return TagAttr::get(context, text.scope, call, readEvidence(text.evidence),
                      readConfidence(text.confidence), text.reason,
                      readContexts(text.contexts));
}

MadeTag &TagMaker::make(const TagText &text) {
  auto *known = llvm::find_if(
      last, [&](const auto &other) { return other.first == text; });
  if (known == last.end()) {
    if (last.size() == 4)
      last.pop_back();
    last.push_back({text, {makeTag(text), {}}});
    known = std::prev(last.end());
  }
  std::rotate(last.begin(), known, std::next(known));
  return last.front().second;
}

//===----------------------------------------------------------------------===//
// TagReader
//===----------------------------------------------------------------------===//

namespace {
class TagReader : public MetadataSink {
public:
  explicit TagReader(MLIRContext *context) : context(context), tags(context) {}

  void takeFromModel(Entries &entries, NamedAttrList &attrs) override;
  void takeFromFunction(Entries &entries, NamedAttrList &attrs) override;
  void takeFromInput(Entries &entries, NamedAttrList &attrs) override;
  void takeFromInitializer(Entries &entries, OperationState &state) override;
  void takeFromNode(Entries &entries, OperationState &state) override;
  void finish(mlir::ModuleOp module, Location loc) override;

private:
  SmallVector<Entry, 12> takeOurs(Entries &entries);
  bool readRecord(const Entry &entry, NamedAttrList &attrs);
  void readParameter(Entries &entries, NamedAttrList &attrs);
  void readNodeAttributes(OperationState &state, TagText &text);
  void report(Location loc);

  MLIRContext *context;
  TagMaker tags;
  std::optional<ModuleTree> tree;
  bool torchNN = false, inAttributes = false;
  // Problems to report in the end.
  std::string brokenTree;
  size_t withoutTree = 0, brokenRecords = 0, brokenIds = 0;
  llvm::SmallSetVector<StringRef, 4> unknownKeys;
};
} // namespace

/// Removes from `entries` what HTP wrote, including what it added for other
/// tools, and returns HTP's own entries.
SmallVector<Entry, 12> TagReader::takeOurs(Entries &entries) {
  SmallVector<Entry, 12> ours;
  std::optional<StringRef> addedKeys;
  for (const Entry &entry : entries) {
    if (!entry.key.starts_with(kOurPrefix))
      continue;
    if (entry.key == kAddedKey)
      addedKeys = entry.value;
    else
      ours.push_back(entry);
  }
  if (ours.empty() && !addedKeys)
    return ours;
  SmallVector<StringRef, 4> added;
  addedKeys.value_or("").split(added, ',', /*MaxSplit=*/-1,
                               /*KeepEmpty=*/false);
  llvm::erase_if(entries, [&](const Entry &entry) {
    return entry.key.starts_with(kOurPrefix) ||
           llvm::is_contained(added, entry.key);
  });
  return ours;
}

void TagReader::takeFromModel(Entries &entries, NamedAttrList &attrs) {
  for (auto [key, value] : takeOurs(entries)) {
    int64_t version;
    if (key == kTreeKey) {
      llvm::Expected<ModuleTree> read = treeFromJSON(value);
      if (read)
        tree = std::move(*read);
      else
        brokenTree = llvm::toString(read.takeError());
    } else if (key == kIRVersionKey) {
      auto current = dyn_cast_or_null<IntegerAttr>(attrs.get("ir_version"));
      if (current && !value.getAsInteger(10, version))
        attrs.set("ir_version", IntegerAttr::get(current.getType(), version));
    } else if (key == kStorageKey) {
      inAttributes = true;
    } else if (key == kTorchNNKey) {
      torchNN = true;
    } else {
      unknownKeys.insert(key);
    }
  }
  if (tree)
    context->loadDialect<HTPDialect>();
}

/// Reads an attribute recorded by outlining; false if `entry` is not one.
bool TagReader::readRecord(const Entry &entry, NamedAttrList &attrs) {
  if (!llvm::is_contained(kRecordKeys, entry.key))
    return false;
  if (Attribute record = attributeFromText(entry.key, entry.value, context))
    attrs.set(entry.key, record);
  else
    ++brokenRecords;
  return true;
}

void TagReader::takeFromFunction(Entries &entries, NamedAttrList &attrs) {
  SmallVector<Entry, 12> ours = takeOurs(entries);
  if (!tree) {
    withoutTree += !ours.empty();
    return;
  }
  for (const Entry &entry : ours) {
    if (readRecord(entry, attrs))
      continue;
    if (entry.key == kModuleAttr)
      attrs.set(kModuleAttr, StringAttr::get(context, entry.value));
    else if (entry.key != kValueInfoKey)
      unknownKeys.insert(entry.key);
    else if (auto infos = attributeFromText(entry.key, entry.value, context))
      attrs.set(kValueInfoKey, infos);
    else
      ++brokenRecords;
  }
}

void TagReader::readParameter(Entries &entries, NamedAttrList &attrs) {
  SmallVector<Entry, 12> ours = takeOurs(entries);
  if (!tree) {
    withoutTree += !ours.empty();
    return;
  }
  for (const Entry &entry : ours) {
    if (entry.key == kParameterAttr) {
      attrs.set(kParameterAttr, StringAttr::get(context, entry.value));
    } else if (entry.key == kUsersAttr) {
      Attribute users = attributeFromText(entry.key, entry.value, context);
      auto paths = dyn_cast_or_null<ArrayAttr>(users);
      if (paths && llvm::all_of(paths, llvm::IsaPred<StringAttr>))
        attrs.set(kUsersAttr, paths);
      else
        ++brokenRecords;
    } else if (entry.key != kTagsKey && !readRecord(entry, attrs)) {
      unknownKeys.insert(entry.key);
    }
  }
}

void TagReader::takeFromInput(Entries &entries, NamedAttrList &attrs) {
  readParameter(entries, attrs);
}

void TagReader::takeFromInitializer(Entries &entries, OperationState &state) {
  readParameter(entries, state.attributes);
}

/// Reads TagStorage::Attribute, which stores only the module.
void TagReader::readNodeAttributes(OperationState &state, TagText &text) {
  if (auto path =
          dyn_cast_or_null<StringAttr>(state.attributes.erase(kSourceModule)))
    text.scope = path;
  state.attributes.erase(kHierarchyTags);
}

void TagReader::takeFromNode(Entries &entries, OperationState &state) {
  TagText text;
  SmallVector<Entry, 12> ours = takeOurs(entries);
  if (!tree) {
    withoutTree += !ours.empty();
    return;
  }
  if (inAttributes)
    readNodeAttributes(state, text);
  for (const Entry &entry : ours) {
    if (StringRef *part = text.find(entry.key)) {
      if (!part->data())
        *part = entry.value;
    } else if (entry.key != kTagKey && !readRecord(entry, state.attributes)) {
      unknownKeys.insert(entry.key);
    }
  }
  ModuleId id;
  if (text.id.data() && !text.scope.data()) {
    if (text.id.getAsInteger(10, id) || id >= tree->size())
      ++brokenIds;
    else
      text.scope = (*tree)[id].path;
  }
  MadeTag &made = tags.make(text);
  if (!made.tag)
    return;
  state.addAttribute(kTagAttr, made.tag);
  if (made.loc) {
    state.location = attachScopeOf(Location(made.loc), state.location);
  } else {
    state.location =
        attachScope(state.location, {made.tag.getPath(), made.tag.getCall(),
                                     made.tag.getPathAttr()});
    made.loc = state.location;
  }
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Warns about everything that was dropped.
void TagReader::report(Location loc) {
  if (!brokenTree.empty())
    emitWarning(loc) << "the module tree in the model's metadata is broken: "
                     << brokenTree << "; its tags are left out";
  else if (withoutTree)
    emitWarning(loc) << withoutTree
                     << " nodes and tensors have tags, but the model has no "
                        "module tree ('htp.hierarchy'); they are left out";
  if (brokenIds)
    emitWarning(loc) << brokenIds
                     << " nodes name a module by a number ('htp.id') that the "
                        "module tree does not have; their tags are left out";
  if (brokenRecords)
    emitWarning(loc) << brokenRecords
                     << " notes of --htp-outline are broken and left out: "
                        "--htp-inline cannot give back the model as it was";
  if (!unknownKeys.empty())
    emitWarning(loc) << "metadata under keys of HTP's that it does not know "
                        "are left out: "
                     << llvm::join(unknownKeys, ", ");
  if (!tags.unknownEvidence.empty())
    emitWarning(loc)
        << "tags have kinds of evidence that this version of HTP does "
           "not know, which are dropped: "
        << llvm::join(tags.unknownEvidence, ", ");
}

void TagReader::finish(mlir::ModuleOp module, Location loc) {
  if (tree) {
    HierarchyOp hierarchy = toIR(*tree, module);
    if (torchNN)
      keepTorchNN(hierarchy, true);
    restoreCalls(module, loc);
  }
  report(loc);
}

std::unique_ptr<MetadataSink> readTags(MLIRContext *context) {
  return std::make_unique<TagReader>(context);
}

} // namespace htp
