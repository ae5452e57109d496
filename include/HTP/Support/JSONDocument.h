// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON texts that are large: a trace of a million ops, the graph in an archive
// of PyTorch, the tree of a tagged model.
//
// llvm::json::Object is a hash table of 64 buckets from its first key on, and
// llvm::json::Array copies all that is in it each time it grows. A trace of
// 100,000 ops took 8 s and 2 GB that way. Here values are views of the text,
// and children lie side by side in one arena. Numbers and strings with escapes
// are still read by LLVM, and so are texts that are not JSON, for its error.

#ifndef HTP_SUPPORT_JSONDOCUMENT_H
#define HTP_SUPPORT_JSONDOCUMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/JSON.h"

namespace htp {

class JSONObject;
class JSONValue;
struct JSONMember;

/// The elements of an array. They belong to the document.
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

/// The members of an object: few in the order of the text, many sorted by key.
/// Of a key that is there twice the last one counts, as in llvm::json.
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

/// A view of a value. The questions are those of llvm::json::Value.
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

  /// A copy that needs no document.
  llvm::json::Value copy() const;

private:
  JSONValue(Kind type, llvm::StringRef text) : type(type), text(text) {}

  Kind type;
  union {
    bool flag;
    llvm::StringRef text; ///< of a number, or a string without its escapes
    JSONArray array;
    JSONObject object;
  };
};

struct JSONMember {
  llvm::StringRef first; ///< as in llvm::json::Object
  JSONValue second;
};

const JSONValue *JSONArray::end() const { return elements + count; }
const JSONValue &JSONArray::operator[](size_t index) const {
  return elements[index];
}
const JSONMember *JSONObject::end() const { return members + count; }

/// A parsed text, which must outlive it.
class JSONDocument {
public:
  /// The parser is recursive: what is nested deeper than `maxNesting` is an
  /// error, not a crash.
  static llvm::Expected<JSONDocument> parse(llvm::StringRef text,
                                            unsigned maxNesting);

  const JSONValue &root() const { return value; }

private:
  llvm::BumpPtrAllocator arena;
  JSONValue value;
};

} // namespace htp

#endif // HTP_SUPPORT_JSONDOCUMENT_H
