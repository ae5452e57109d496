// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Support/JSONDocument.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/StringSaver.h"

using namespace htp;
namespace json = llvm::json;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<bool> JSONValue::getAsBoolean() const {
  return type == Kind::Boolean ? std::optional(flag) : std::nullopt;
}

std::optional<int64_t> JSONValue::getAsInteger() const {
  if (type != Kind::Number)
    return std::nullopt;
  int64_t number;
  if (!text.getAsInteger(10, number))
    return number;
  return copy().getAsInteger(); // 1e3 is one too
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

/// Up to here a look at each member is faster than a search.
static constexpr size_t kFewMembers = 16;

static bool keyLess(const JSONMember &a, const JSONMember &b) {
  return a.first < b.first;
}

/// Equal keys stay in their order.
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
  llvm::ArrayRef<JSONMember> candidates(members, count);
  if (count > kFewMembers)
    candidates = candidates.take_front(
        llvm::upper_bound(candidates, JSONMember{key, JSONValue()}, keyLess) -
        candidates.begin());
  for (const JSONMember &member : llvm::reverse(candidates)) {
    if (member.first == key)
      return &member.second;
    if (count > kFewMembers)
      break;
  }
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

namespace {
/// Reads the structure. Each function is false where the text is not JSON.
class Parser {
public:
  Parser(StringRef text, unsigned maxNesting, llvm::BumpPtrAllocator &arena)
      : at(text.begin()), end(text.end()), levelsLeft(maxNesting),
        arena(arena) {}

  bool parse(JSONValue &value) {
    return parseValue(value) && (skipSpace(), at == end);
  }

private:
  void skipSpace() {
    while (at != end &&
           (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
      ++at;
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
  bool parseString(StringRef &result);
  bool parseNumber(JSONValue &value);
  bool parseArray(JSONValue &value);
  bool parseObject(JSONValue &value);

  /// Moves what a list has gathered since `first` into the arena.
  template <typename T>
  llvm::MutableArrayRef<T> take(std::vector<T> &from, size_t first) {
    llvm::MutableArrayRef<T> list =
        llvm::ArrayRef(from).drop_front(first).copy(arena);
    from.erase(from.begin() + first, from.end());
    return list;
  }

  const char *at, *const end;
  unsigned levelsLeft;
  llvm::BumpPtrAllocator &arena;
  // The children of all lists that are open, the innermost list's last.
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

bool Parser::parseString(StringRef &result) {
  const char *begin = at++;
  bool plain = true;
  for (; at != end && *at != '"'; ++at) {
    plain &= *at != '\\' && static_cast<unsigned char>(*at) >= 0x20;
    if (*at == '\\' && ++at == end)
      return false;
  }
  if (at == end)
    return false;
  ++at;
  StringRef quoted(begin, at - begin);
  if (plain) {
    result = quoted.drop_front().drop_back();
    return true;
  }
  llvm::Expected<json::Value> unescaped = json::parse(quoted);
  if (!unescaped) {
    llvm::consumeError(unescaped.takeError());
    return false;
  }
  result = llvm::StringSaver(arena).save(*unescaped->getAsString());
  return true;
}

bool Parser::parseNumber(JSONValue &value) {
  const char *begin = at;
  while (at != end && (llvm::isDigit(*at) || StringRef("+-.eE").contains(*at)))
    ++at;
  StringRef text(begin, at - begin);
  // Few enough digits need no second look.
  bool plain =
      !text.empty() && text.size() < 18 && llvm::all_of(text, llvm::isDigit);
  if (!plain) {
    llvm::Expected<json::Value> number = json::parse(text);
    if (!number) {
      llvm::consumeError(number.takeError());
      return false;
    }
  }
  value = JSONValue::number(text);
  return true;
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
      if (consume(']'))
        break;
      if (!consume(','))
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
      if (consume('}'))
        break;
      if (!consume(','))
        return false;
    }
  ++levelsLeft;
  llvm::MutableArrayRef<JSONMember> list = take(members, first);
  if (list.size() > kFewMembers)
    sortMembers(list);
  value = JSONValue(JSONObject(list.data(), list.size()));
  return true;
}

/// How deep arrays and objects are nested in `text`.
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

llvm::Expected<JSONDocument> JSONDocument::parse(StringRef text,
                                                 unsigned maxNesting) {
  JSONDocument document;
  if (json::isUTF8(text) &&
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
