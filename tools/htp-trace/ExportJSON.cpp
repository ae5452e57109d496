// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked accessors for the archive's JSON, which throw ArchiveError.

#include "ExportJSON.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace htp::trace;
namespace json = llvm::json;
using llvm::StringRef;

const json::Value &htp::trace::field(const json::Object &object,
                                     StringRef key) {
  if (const json::Value *value = object.get(key))
    return *value;
  throw ArchiveError(
      llvm::formatv("the archive's graph has no '{0}' where one was expected",
                    key)
          .str());
}
const json::Object &htp::trace::asObject(const json::Value &value,
                                         StringRef what) {
  if (const json::Object *object = value.getAsObject())
    return *object;
  throw ArchiveError(
      llvm::formatv("'{0}' in the archive's graph is not an object", what)
          .str());
}
const json::Array &htp::trace::asArray(const json::Value &value,
                                       StringRef what) {
  if (const json::Array *array = value.getAsArray())
    return *array;
  throw ArchiveError(
      llvm::formatv("'{0}' in the archive's graph is not an array", what)
          .str());
}
const json::Object &htp::trace::object(const json::Object &parent,
                                       StringRef key) {
  return asObject(field(parent, key), key);
}
const json::Array &htp::trace::array(const json::Object &parent,
                                     StringRef key) {
  return asArray(field(parent, key), key);
}
std::string htp::trace::text(const json::Object &parent, StringRef key) {
  if (auto value = field(parent, key).getAsString())
    return value->str();
  throw ArchiveError(
      llvm::formatv("'{0}' in the archive's graph is not a string", key).str());
}

json::Value htp::trace::parseJSON(Archive &archive, const std::string &record) {
  StringRef bytes = archive.bytes(record);
  int64_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char c = bytes[i];
    if (c == '"')
      inString = !inString;
    else if (inString)
      i += c == '\\';
    else if (c == '[' || c == '{') {
      if (++depth > 10'000)
        throw ArchiveError(record + " nests more than 10,000 levels deep");
    } else if (c == ']' || c == '}')
      --depth;
  }
  auto parsed = json::parse(bytes);
  if (!parsed)
    throw ArchiveError(record + ": " + llvm::toString(parsed.takeError()));
  return std::move(*parsed);
}

std::optional<c10::ScalarType> htp::trace::scalarType(int64_t number) {
  using c10::ScalarType;
  switch (number) {
  case 1:
    return ScalarType::Byte;
  case 2:
    return ScalarType::Char;
  case 3:
    return ScalarType::Short;
  case 4:
    return ScalarType::Int;
  case 5:
    return ScalarType::Long;
  case 6:
    return ScalarType::Half;
  case 7:
    return ScalarType::Float;
  case 8:
    return ScalarType::Double;
  case 9:
    return ScalarType::ComplexHalf;
  case 10:
    return ScalarType::ComplexFloat;
  case 11:
    return ScalarType::ComplexDouble;
  case 12:
    return ScalarType::Bool;
  case 13:
    return ScalarType::BFloat16;
  case 28:
    return ScalarType::UInt16;
  case 29:
    return ScalarType::Float8_e4m3fn;
  case 30:
    return ScalarType::Float8_e5m2;
  case 31:
    return ScalarType::Float8_e4m3fnuz;
  case 32:
    return ScalarType::Float8_e5m2fnuz;
  default:
    return std::nullopt;
  }
}

Shape htp::trace::dimensions(const json::Array &list) {
  Shape shape;
  for (const json::Value &size : list) {
    const json::Object &entry = asObject(size, "sizes");
    shape.push_back(entry.getInteger("as_int").value_or(-1));
  }
  return shape;
}
