// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON with errors that name the place in the document: each function
// reports to the path and returns false if a value is not as expected.

#ifndef HTP_HIERARCHY_JSONREADING_H
#define HTP_HIERARCHY_JSONREADING_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Support/JSONDocument.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

namespace htp::reading {

using llvm::StringLiteral;
using llvm::StringRef;
using llvm::json::Path;

inline bool reject(Path path, StringLiteral message) {
  path.report(message);
  return false;
}

/// The error that was reported to a path, with the offending value if there is
/// one: Path takes only literals, so the value is kept separately.
inline llvm::Error errorOf(Path::Root &root, StringRef found) {
  if (found.empty())
    return root.getError();
  return llvm::createStringError(llvm::toString(root.getError()) + ", found '" +
                                 found + "'");
}

inline const JSONObject *asObject(const JSONValue &value, Path path) {
  const JSONObject *object = value.getAsObject();
  if (!object)
    path.report("expected object");
  return object;
}

/// A view of a string, owned by the document. If the key is missing, `result`
/// is left alone; a default-constructed StringRef then still has null data.
inline bool getView(const JSONObject &object, StringLiteral key, bool required,
                    StringRef &result, Path path) {
  const JSONValue *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected string");
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    return reject(path.field(key), "expected string");
  result = *text;
  return true;
}

inline bool getString(const JSONObject &object, StringLiteral key,
                      bool required, std::string &result, Path path) {
  StringRef text;
  if (!getView(object, key, required, text, path))
    return false;
  if (text.data())
    result = text.str();
  return true;
}

/// A string of at least one character.
inline bool getText(const JSONObject &object, StringLiteral key,
                    std::string &result, Path path) {
  if (!getString(object, key, /*required=*/true, result, path))
    return false;
  return !result.empty() ||
         reject(path.field(key), "expected text, found \"\"");
}

/// Upper bounds for numbers in a file, as they become indices and table sizes.
inline constexpr int64_t kMostCount = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMostCalls = 1 << 20;
inline constexpr int64_t kMostElements = int64_t(1) << 48;

inline bool getCount(const JSONValue &value, int64_t &result, Path path) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || *number > kMostCount)
    return reject(path, "expected integer from 0 to 2147483647");
  result = *number;
  return true;
}

inline bool getCount(const JSONObject &object, StringLiteral key, bool required,
                     int64_t &result, Path path) {
  const JSONValue *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected integer");
  return getCount(*value, result, path.field(key));
}

/// The number of a call of a module, or the number of calls.
inline bool getCalls(const JSONObject &object, StringLiteral key,
                     int64_t &result, Path path) {
  if (!getCount(object, key, /*required=*/true, result, path))
    return false;
  return result <= kMostCalls ||
         reject(path.field(key), "expected integer from 0 to 1048576");
}

inline bool getHash(const JSONObject &object, StringLiteral key,
                    uint64_t &result, Path path) {
  StringRef text;
  if (!getView(object, key, /*required=*/false, text, path))
    return false;
  if (!text.data())
    return true;
  auto isLowerHex = [](char c) {
    return llvm::isDigit(c) || (c >= 'a' && c <= 'f');
  };
  if (text.size() != 16 || !llvm::all_of(text, isLowerHex))
    return reject(path.field(key),
                  "expected 16 hexadecimal digits in lower case");
  result = 0;
  for (char c : text)
    result = result << 4 | llvm::hexDigitValue(c);
  return true;
}

/// The sizes of a tensor; null for a dynamic one.
inline bool getShape(const JSONValue &value, Shape &shape, Path path) {
  const JSONArray *sizes = value.getAsArray();
  if (!sizes)
    return reject(path, "expected array");
  shape.reserve(sizes->size());
  for (const auto &[index, size] : llvm::enumerate(*sizes)) {
    std::optional<int64_t> number = size.getAsInteger();
    if (size.kind() == JSONValue::Kind::Null)
      number = kDynamicSize;
    else if (!number || *number < 0 || *number > kMostElements)
      return reject(path.index(index),
                    "expected integer that is not negative, or null");
    shape.push_back(*number);
  }
  return true;
}

/// Reads each element of the array `key` of `object` with `readOne`. A missing
/// array counts as empty unless it is `required`.
template <typename T, typename ReadOne>
bool readList(const JSONObject &object, StringLiteral key, bool required,
              std::vector<T> &list, Path path, ReadOne readOne) {
  const JSONValue *value = object.get(key);
  if (!value)
    return !required || reject(path.field(key), "missing, expected array");
  const JSONArray *array = value->getAsArray();
  if (!array)
    return reject(path.field(key), "expected array");
  list.resize(array->size());
  for (size_t i = 0; i < list.size(); ++i)
    if (!readOne((*array)[i], list[i], path.field(key).index(i)))
      return false;
  return true;
}

/// Reads the object `producer` of a trace or a tree.
bool readProducer(const JSONValue &value, Producer &producer, Path path);

/// Reads the array `modules` of `object`. With `classesKnown` (a trace) every
/// module must have a class; trees reconstructed from names may lack them. On
/// an error, `found` receives details that the message itself cannot hold.
bool readTree(const JSONObject &object, bool classesKnown, ModuleTree &tree,
              Path path, std::string &found);

} // namespace htp::reading

#endif // HTP_HIERARCHY_JSONREADING_H
