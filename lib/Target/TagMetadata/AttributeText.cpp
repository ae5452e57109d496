// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between attributes and JSON. An outlined file has one such text
// per call, with the names of all ops of the function, so speed matters.

#include "AttributeText.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Support/JSONDocument.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace htp {

/// The nesting limit of a record: two levels for each nested module.
static constexpr unsigned kMaxNesting = 1024;

/// The nesting limit of MLIR text: deeper than any attribute of a record.
static constexpr unsigned kMaxBrackets = 64;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A fast path for plain strings: LLVM's writer first validates a string and
/// then writes it character by character, which names hardly ever need.
static void appendString(StringRef value, std::string &text) {
  bool plain = llvm::all_of(
      value, [](char c) { return llvm::isPrint(c) && c != '"' && c != '\\'; });
  if (plain)
    text.append("\"").append(value).append("\"");
  else
    text += llvm::formatv("{0}", json::Value(value)).str();
}

static void appendJSON(Attribute attribute, std::string &text);

/// Writes an attribute that JSON cannot represent as MLIR prints it.
static void appendMLIR(Attribute attribute, std::string &text) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  attribute.print(stream);
  text += "{\"mlir\":";
  appendString(printed, text);
  text += '}';
}

/// Locations are left out, as ONNX has none.
static void appendJSON(ArrayRef<NamedAttribute> entries, std::string &text) {
  StringRef comma;
  text += '{';
  for (NamedAttribute entry : entries) {
    StringRef key = entry.getName();
    if (key == kRecordedLocation || key == kRecordedInScope ||
        key == kRecordedArguments)
      continue;
    text += std::exchange(comma, ",");
    appendString(key, text);
    text += ':';
    appendJSON(entry.getValue(), text);
  }
  text += '}';
}

/// Writes directly, without json::Value, as there are as many records as ops.
/// Names may contain any bytes; those that are not UTF-8 are escaped by MLIR's
/// printer, as JSON allows text only.
static void appendJSON(Attribute attribute, std::string &text) {
  StringRef comma;
  if (auto value = dyn_cast<StringAttr>(attribute);
      value && json::isUTF8(value.getValue())) {
    appendString(value, text);
  } else if (auto originals = dyn_cast<OriginalsAttr>(attribute)) {
    text += '[';
    for (size_t op : llvm::seq(originals.size())) {
      text += std::exchange(comma, ",");
      appendJSON(originals[op], text);
    }
    text += ']';
  } else if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    text += '[';
    for (Attribute element : array) {
      text += std::exchange(comma, ",");
      appendJSON(element, text);
    }
    text += ']';
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    appendJSON(dictionary.getValue(), text);
  } else {
    appendMLIR(attribute, text);
  }
}

std::string attributeToText(Attribute attribute) {
  std::string text;
  if (auto value = dyn_cast<StringAttr>(attribute))
    text = value.str();
  else
    appendJSON(attribute, text);
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// MLIR's parser is recursive and has no nesting limit, but a file must not be
/// able to overflow the stack.
static bool isShallow(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      inString = !inString;
    else if (inString)
      i += c == '\\';
    else if (StringRef("([{<").contains(c) && ++depth > kMaxBrackets)
      return false;
    else if (StringRef(")]}>").contains(c) && depth > 0)
      --depth;
  }
  return true;
}

/// Null, without a diagnostic, if the text is not an attribute: the reader of
/// the file reports that.
static Attribute parseMLIR(StringRef text, MLIRContext *context) {
  if (!isShallow(text))
    return {};
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  return parseAttribute(text, context);
}

static Attribute fromJSON(const JSONValue &value, MLIRContext *context);

/// Converts the value under `key`, which distinguishes #htp.originals from
/// other lists.
static Attribute fromJSON(StringRef key, const JSONValue &value,
                          MLIRContext *context) {
  Attribute attribute = fromJSON(value, context);
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  return array && key == kOriginalsAttr ? OriginalsAttr::get(array) : attribute;
}

/// Null if the value was not written by appendJSON.
static Attribute fromJSON(const JSONValue &value, MLIRContext *context) {
  if (auto text = value.getAsString())
    return StringAttr::get(context, *text);
  if (const JSONArray *array = value.getAsArray()) {
    SmallVector<Attribute> elements;
    for (const JSONValue &element : *array) {
      elements.push_back(fromJSON(element, context));
      if (!elements.back())
        return {};
    }
    return ArrayAttr::get(context, elements);
  }
  const JSONObject *object = value.getAsObject();
  if (!object)
    return {};
  if (object->size() == 1)
    if (auto text = object->getString("mlir"))
      return parseMLIR(*text, context);
  NamedAttrList entries;
  for (const auto &[key, entry] : *object) {
    Attribute attribute = fromJSON(key, entry, context);
    if (!attribute || key.empty())
      return {};
    entries.set(StringAttr::get(context, key), attribute);
  }
  return entries.getDictionary(context);
}

Attribute attributeFromText(StringRef key, StringRef text,
                            MLIRContext *context) {
  llvm::Expected<JSONDocument> document =
      JSONDocument::parse(text, kMaxNesting);
  if (!document) {
    llvm::consumeError(document.takeError());
    return {};
  }
  return fromJSON(key, document->root(), context);
}

} // namespace htp
