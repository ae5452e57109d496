// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser behind JSONDocument, and the accessors of its values.

#include "HTP/Support/JSONDocument.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/StringSaver.h"

#include <array>
#include <cassert>
#include <string_view>

using namespace htp;
namespace json = llvm::json;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether `text` is only digits, few enough to fit an int64_t, as most numbers
/// are.
static bool isPlainInteger(StringRef text) {
  return !text.empty() && text.size() < 18 && llvm::all_of(text, llvm::isDigit);
}

std::optional<bool> JSONValue::getAsBoolean() const {
  return type == Kind::Boolean ? std::optional(flag) : std::nullopt;
}

std::optional<int64_t> JSONValue::getAsInteger() const {
  if (type != Kind::Number)
    return std::nullopt;
  if (isPlainInteger(text)) {
    int64_t number = 0;
    for (char digit : text)
      number = number * 10 + (digit - '0');
    return number;
  }
  int64_t number;
  if (!text.getAsInteger(10, number))
    return number;
  return copy().getAsInteger(); // 1e3 is an integer, too
}

std::optional<double> JSONValue::getAsNumber() const {
  return type == Kind::Number ? copy().getAsNumber() : std::nullopt;
}

std::optional<StringRef> JSONValue::getAsString() const {
  return type == Kind::String ? std::optional(text) : std::nullopt;
}

json::Value JSONValue::copy() const {
  switch (type) {
  case Kind::Null:
    return nullptr;
  case Kind::Boolean:
    return flag;
  case Kind::Number:
    return llvm::cantFail(json::parse(text));
  case Kind::String:
    return text.str();
  case Kind::Array: {
    json::Array elements;
    elements.reserve(array.size());
    for (const JSONValue &element : array)
      elements.push_back(element.copy());
    return elements;
  }
  case Kind::Object: {
    json::Object members;
    for (const JSONMember &member : object)
      members[member.first] = member.second.copy();
    return members;
  }
  }
  llvm_unreachable("unknown kind");
}

/// Up to this size a linear search is faster than a binary one.
static constexpr size_t kFewMembers = 16;

static bool keyLess(const JSONMember &a, const JSONMember &b) {
  return a.first < b.first;
}

/// Sorts by key; stable, so that the last of equal keys stays last.
static void sortMembers(llvm::MutableArrayRef<JSONMember> members) {
  std::vector<std::pair<JSONMember, size_t>> numbered;
  numbered.reserve(members.size());
  for (auto [index, member] : llvm::enumerate(members))
    numbered.emplace_back(member, index);
  llvm::sort(numbered, [](const auto &a, const auto &b) {
    return std::tie(a.first.first, a.second) <
           std::tie(b.first.first, b.second);
  });
  for (auto [member, sorted] : llvm::zip_equal(members, numbered))
    member = sorted.first;
}

const JSONValue *JSONObject::get(StringRef key) const {
  const JSONMember *last = members + count;
  if (count > kFewMembers) {
    last =
        std::upper_bound(members, last, JSONMember{key, JSONValue()}, keyLess);
    return last != members && last[-1].first == key ? &last[-1].second
                                                    : nullptr;
  }
  while (last != members)
    if ((--last)->first == key)
      return &last->second;
  return nullptr;
}

std::optional<bool> JSONObject::getBoolean(StringRef key) const {
  const JSONValue *value = get(key);
  return value ? value->getAsBoolean() : std::nullopt;
}

std::optional<int64_t> JSONObject::getInteger(StringRef key) const {
  const JSONValue *value = get(key);
  return value ? value->getAsInteger() : std::nullopt;
}

std::optional<double> JSONObject::getNumber(StringRef key) const {
  const JSONValue *value = get(key);
  return value ? value->getAsNumber() : std::nullopt;
}

std::optional<StringRef> JSONObject::getString(StringRef key) const {
  const JSONValue *value = get(key);
  return value ? value->getAsString() : std::nullopt;
}

const JSONObject *JSONObject::getObject(StringRef key) const {
  const JSONValue *value = get(key);
  return value ? value->getAsObject() : nullptr;
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

using CharSet = std::array<bool, 256>;

static constexpr CharSet setOf(std::string_view chars) {
  CharSet set{};
  for (unsigned char c : chars)
    set[c] = true;
  return set;
}

static constexpr CharSet kSpace = setOf(" \n\t\r"),
                         kNumeric = setOf("0123456789+-.eE");

/// Characters that need no decoding in a string.
static constexpr CharSet kPlain = [] {
  CharSet set{};
  for (unsigned c = 0x20; c < set.size(); ++c)
    set[c] = c != '"' && c != '\\';
  return set;
}();

namespace {
/// A recursive-descent parser. Each function returns false if the text is not
/// JSON.
class Parser {
public:
  Parser(StringRef text, unsigned maxNesting, llvm::BumpPtrAllocator &arena)
      : at(text.begin()), end(text.end()), levelsLeft(maxNesting),
        arena(arena) {}

  bool parse(JSONValue &value) {
    return parseValue(value) && (skipSpace(), at == end);
  }

private:
  const char *skip(const char *from, const CharSet &set) const {
    while (from != end && set[static_cast<unsigned char>(*from)])
      ++from;
    return from;
  }
  void skipSpace() { at = skip(at, kSpace); }
  /// Consumes and returns the next non-space character; 0 at the end.
  char next() {
    skipSpace();
    return at == end ? 0 : *at++;
  }
  bool consume(char c) {
    skipSpace();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool consumeWord(StringRef word) {
    if (!StringRef(at, end - at).starts_with(word))
      return false;
    at += word.size();
    return true;
  }

  bool parseValue(JSONValue &value);
  bool parseString(StringRef &result) {
    const char *close = skip(at + 1, kPlain);
    if (close == end || *close != '"')
      return parseEscaped(result);
    result = StringRef(at + 1, close - (at + 1));
    at = close + 1;
    return true;
  }
  // Kept out of line, as most values are short scalars.
  LLVM_ATTRIBUTE_NOINLINE bool parseEscaped(StringRef &result);
  LLVM_ATTRIBUTE_NOINLINE bool parseArray(JSONValue &value);
  LLVM_ATTRIBUTE_NOINLINE bool parseObject(JSONValue &value);
  bool parseNumber(JSONValue &value);

  /// Moves the elements from index `first` on into the arena.
  template <typename T>
  llvm::MutableArrayRef<T> take(std::vector<T> &from, size_t first) {
    assert(first <= from.size() && "lists end in the order of their nesting");
    llvm::MutableArrayRef<T> list =
        llvm::ArrayRef(from).drop_front(first).copy(arena);
    from.erase(from.begin() + first, from.end());
    return list;
  }

  const char *at, *const end;
  unsigned levelsLeft;
  llvm::BumpPtrAllocator &arena;
  // Stacks with the children of all open arrays and objects, innermost last.
  std::vector<JSONValue> elements;
  std::vector<JSONMember> members;
};
} // namespace

bool Parser::parseValue(JSONValue &value) {
  skipSpace();
  if (at == end)
    return false;
  switch (*at) {
  case '{':
    return parseObject(value);
  case '[':
    return parseArray(value);
  case '"': {
    StringRef text;
    if (!parseString(text))
      return false;
    value = JSONValue::string(text);
    return true;
  }
  case 'n':
    value = JSONValue();
    return consumeWord("null");
  case 't':
    value = JSONValue(true);
    return consumeWord("true");
  case 'f':
    value = JSONValue(false);
    return consumeWord("false");
  default:
    return parseNumber(value);
  }
}

bool Parser::parseEscaped(StringRef &result) {
  const char *begin = at++;
  for (; at != end && *at != '"'; ++at)
    if (*at == '\\' && ++at == end)
      return false;
  if (at == end)
    return false;
  ++at;
  llvm::Expected<json::Value> unescaped =
      json::parse(StringRef(begin, at - begin));
  if (!unescaped) {
    llvm::consumeError(unescaped.takeError());
    return false;
  }
  result = llvm::StringSaver(arena).save(*unescaped->getAsString());
  return true;
}

static LLVM_ATTRIBUTE_NOINLINE bool isNumber(StringRef text) {
  llvm::Expected<json::Value> number = json::parse(text);
  if (number)
    return true;
  llvm::consumeError(number.takeError());
  return false;
}

bool Parser::parseNumber(JSONValue &value) {
  const char *begin = at;
  at = skip(at, kNumeric);
  StringRef text(begin, at - begin);
  value = JSONValue::number(text);
  return isPlainInteger(text) || isNumber(text);
}

bool Parser::parseArray(JSONValue &value) {
  ++at;
  if (levelsLeft-- == 0)
    return false;
  size_t first = elements.size();
  if (!consume(']'))
    while (true) {
      JSONValue element;
      if (!parseValue(element))
        return false;
      elements.push_back(element);
      char c = next();
      if (c == ']')
        break;
      if (c != ',')
        return false;
    }
  ++levelsLeft;
  llvm::ArrayRef<JSONValue> list = take(elements, first);
  value = JSONValue(JSONArray(list.data(), list.size()));
  return true;
}

bool Parser::parseObject(JSONValue &value) {
  ++at;
  if (levelsLeft-- == 0)
    return false;
  size_t first = members.size();
  if (!consume('}'))
    while (true) {
      JSONMember member;
      skipSpace();
      if (at == end || *at != '"' || !parseString(member.first) ||
          !consume(':') || !parseValue(member.second))
        return false;
      members.push_back(member);
      char c = next();
      if (c == '}')
        break;
      if (c != ',')
        return false;
    }
  ++levelsLeft;
  llvm::MutableArrayRef<JSONMember> list = take(members, first);
  if (list.size() > kFewMembers)
    sortMembers(list);
  value = JSONValue(JSONObject(list.data(), list.size()));
  return true;
}

/// The nesting depth of arrays and objects in `text`.
static unsigned nesting(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      inString = !inString;
    else if (inString)
      i += c == '\\';
    else if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if ((c == ']' || c == '}') && depth)
      --depth;
  }
  return deepest;
}

/// A fast check that spares most texts the full UTF-8 validation.
static bool allASCII(StringRef text) {
  unsigned char all = 0;
  for (unsigned char c : text)
    all |= c;
  return all < 0x80;
}

llvm::Expected<JSONDocument> JSONDocument::parse(StringRef text,
                                                 unsigned maxNesting) {
  JSONDocument document;
  if ((allASCII(text) || json::isUTF8(text)) &&
      Parser(text, maxNesting, document.arena).parse(document.value))
    return document;
  if (unsigned depth = nesting(text); depth > maxNesting)
    return llvm::createStringError("nested %u levels deep, expected at most %u",
                                   depth, maxNesting);
  llvm::Expected<json::Value> other = json::parse(text);
  return llvm::createStringError(
      "not JSON: " +
      (other ? std::string("unreadable") : llvm::toString(other.takeError())));
}
