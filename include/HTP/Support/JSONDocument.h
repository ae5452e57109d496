// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON parser for large texts: a trace of a million ops, the graph in a
// PyTorch archive, the tree of a tagged model.
//
// llvm::json needs too much time and memory for them: 8 s and 2 GB for a trace
// of 100,000 ops, as each Object is a hash table of at least 64 buckets and
// each Array copies its elements whenever it grows. Here, values are views of
// the text, and children are stored contiguously in an arena. LLVM still parses
// numbers, strings with escapes, and malformed texts (for its error message).

#ifndef HTP_SUPPORT_JSONDOCUMENT_H
#define HTP_SUPPORT_JSONDOCUMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/JSON.h"

#include <cassert>

namespace htp {

class JSONObject;
class JSONValue;
struct JSONMember;

/// The elements of an array, owned by the document.
class JSONArray {
public:
  JSONArray() : JSONArray(nullptr, 0) {}
  JSONArray(const JSONValue *elements, size_t count)
      : elements(elements), count(count) {}
  const JSONValue *begin() const { return elements; }
  inline const JSONValue *end() const;
  inline const JSONValue &operator[](size_t index) const;
  size_t size() const { return count; }
  bool empty() const { return count == 0; }

private:
  const JSONValue *elements;
  size_t count;
};

/// The members of an object: in textual order if there are few, otherwise
/// sorted by key. If a key occurs twice, the last one counts, as in llvm::json.
class JSONObject {
public:
  JSONObject(const JSONMember *members, size_t count)
      : members(members), count(count) {}
  const JSONMember *begin() const { return members; }
  inline const JSONMember *end() const;
  size_t size() const { return count; }
  bool empty() const { return count == 0; }

  const JSONValue *get(llvm::StringRef key) const;
  std::optional<bool> getBoolean(llvm::StringRef key) const;
  std::optional<int64_t> getInteger(llvm::StringRef key) const;
  std::optional<double> getNumber(llvm::StringRef key) const;
  std::optional<llvm::StringRef> getString(llvm::StringRef key) const;
  const JSONObject *getObject(llvm::StringRef key) const;

private:
  const JSONMember *members;
  size_t count;
};

/// A view of a value, with the accessors of llvm::json::Value.
class JSONValue {
public:
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object };

  JSONValue() : type(Kind::Null), flag(false) {}
  explicit JSONValue(bool flag) : type(Kind::Boolean), flag(flag) {}
  explicit JSONValue(JSONArray array) : type(Kind::Array), array(array) {}
  explicit JSONValue(JSONObject object) : type(Kind::Object), object(object) {}
  static JSONValue number(llvm::StringRef text) { return {Kind::Number, text}; }
  static JSONValue string(llvm::StringRef text) { return {Kind::String, text}; }

  Kind kind() const { return type; }
  std::optional<bool> getAsBoolean() const;
  std::optional<int64_t> getAsInteger() const;
  std::optional<double> getAsNumber() const;
  std::optional<llvm::StringRef> getAsString() const;
  const JSONArray *getAsArray() const {
    return type == Kind::Array ? &array : nullptr;
  }
  const JSONObject *getAsObject() const {
    return type == Kind::Object ? &object : nullptr;
  }

  /// A copy that does not depend on the document.
  llvm::json::Value copy() const;

private:
  JSONValue(Kind type, llvm::StringRef text) : type(type), text(text) {}

  Kind type;
  union {
    bool flag;
    llvm::StringRef text; ///< a number, or a string with escapes decoded
    JSONArray array;
    JSONObject object;
  };
};

struct JSONMember {
  llvm::StringRef first; ///< the key; named as in llvm::json::Object
  JSONValue second;
};

const JSONValue *JSONArray::end() const { return elements + count; }
const JSONValue &JSONArray::operator[](size_t index) const {
  assert(index < count && "no such element");
  return elements[index];
}
const JSONMember *JSONObject::end() const { return members + count; }

/// A parsed text. The text must outlive the document.
class JSONDocument {
public:
  /// Nesting deeper than `maxNesting` is an error: the parser is recursive, and
  /// would overflow the stack.
  static llvm::Expected<JSONDocument> parse(llvm::StringRef text,
                                            unsigned maxNesting);

  const JSONValue &root() const { return value; }

private:
  llvm::BumpPtrAllocator arena;
  JSONValue value;
};

} // namespace htp

#endif // HTP_SUPPORT_JSONDOCUMENT_H
