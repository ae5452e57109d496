// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSONDocument agrees with llvm::json on what texts mean and which are errors.

#include "HTP/Support/JSONDocument.h"

#include "gtest/gtest.h"

using namespace htp;
namespace json = llvm::json;
using llvm::StringRef;

/// Expects the same result as from LLVM's parser.
static void expectSame(StringRef text) {
  SCOPED_TRACE(text.str());
  llvm::Expected<json::Value> expected = json::parse(text);
  llvm::Expected<JSONDocument> found = JSONDocument::parse(text, 100);
  ASSERT_EQ(static_cast<bool>(expected), static_cast<bool>(found));
  if (expected) {
    EXPECT_EQ(*expected, found->root().copy());
    return;
  }
  EXPECT_EQ("not JSON: " + llvm::toString(expected.takeError()),
            llvm::toString(found.takeError()));
}

TEST(JSONDocument, MeansWhatLLVMReads) {
  for (StringRef text :
       {"null", " true ", "false", "0", "-1", "12345678901234567890123",
        "1.5e3", "[]", "{}", " [ 1 , [ 2 ] , {} ] ",
        "{\"a\": 1, \"b\": [true, null], \"a\": 2}", "\"\"",
        "\"a\\n\\u00e4\\ud83d\\ude00\\\"\\\\\"", "\"\\ud800\"",
        "{\"\\u0061\": \"b\"}", "\"\xc3\xa4\""})
    expectSame(text);
}

TEST(JSONDocument, RefusesWhatLLVMRefuses) {
  for (StringRef text :
       {"",          "  ",    "nul",     "truex",     "1 2",         "[1",
        "[1,]",      "[1 2]", "{\"a\"}", "{\"a\" 1}", "{\"a\": 1,}", "{a: 1}",
        "{\"a\": 1", "\"",    "\"\\",    "\"\\x\"",   "\"\x01\"",    "01a",
        "1-2",       "-",     "+1",      ".5",        "[}",          "]",
        "\"\xff\""})
    expectSame(text);
}

TEST(JSONDocument, NestsOnlySoDeep) {
  std::string text = std::string(101, '[') + std::string(101, ']');
  llvm::Expected<JSONDocument> document = JSONDocument::parse(text, 100);
  ASSERT_FALSE(document);
  EXPECT_EQ(llvm::toString(document.takeError()),
            "nested 101 levels deep, expected at most 100");
  ASSERT_TRUE(static_cast<bool>(JSONDocument::parse(text, 101)));
}

TEST(JSONDocument, FindsMembersOfLargeObjects) {
  std::string text = "{\"twice\": 1";
  for (int i = 999; i >= 0; --i)
    text += ", \"k" + std::to_string(i) + "\": " + std::to_string(i);
  text += ", \"twice\": 2}";
  llvm::Expected<JSONDocument> document = JSONDocument::parse(text, 1);
  ASSERT_TRUE(static_cast<bool>(document));
  const JSONObject *object = document->root().getAsObject();
  ASSERT_TRUE(object);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(object->getInteger("k" + std::to_string(i)), i);
  EXPECT_EQ(object->getInteger("twice"), 2);
  EXPECT_EQ(object->get("k"), nullptr);
  EXPECT_EQ(object->get("zzz"), nullptr);
}

TEST(JSONDocument, AnswersByKind) {
  StringRef text = "{\"i\": 3, \"d\": 3.0, \"h\": 0.5, \"s\": \"x\", \"b\": "
                   "true, \"o\": {}, \"a\": [7]}";
  llvm::Expected<JSONDocument> document = JSONDocument::parse(text, 2);
  ASSERT_TRUE(static_cast<bool>(document));
  const JSONObject &object = *document->root().getAsObject();
  EXPECT_EQ(object.getInteger("i"), 3);
  EXPECT_EQ(object.getInteger("d"), 3);
  EXPECT_EQ(object.getInteger("h"), std::nullopt);
  EXPECT_EQ(object.getNumber("h"), 0.5);
  EXPECT_EQ(object.getString("s"), "x");
  EXPECT_EQ(object.getString("i"), std::nullopt);
  EXPECT_EQ(object.getBoolean("b"), true);
  EXPECT_TRUE(object.getObject("o") && object.getObject("o")->empty());
  EXPECT_EQ((*object.get("a")->getAsArray())[0].getAsInteger(), 7);
}

TEST(JSONDocument, ReadsIntegersAsLLVMDoes) {
  for (StringRef text : {"0", "7", "12345678901234567", "123456789012345678",
                         "9223372036854775807", "9223372036854775808", "-1",
                         "-9223372036854775808", "1e3", "2.0", "2.5"}) {
    SCOPED_TRACE(text.str());
    llvm::Expected<JSONDocument> document = JSONDocument::parse(text, 1);
    ASSERT_TRUE(static_cast<bool>(document));
    EXPECT_EQ(document->root().getAsInteger(),
              llvm::cantFail(json::parse(text)).getAsInteger());
  }
}

TEST(JSONDocument, ReadsStringsOfAnyLength) {
  // Special characters after any number of plain ones.
  for (size_t length = 0; length < 20; ++length)
    for (StringRef special : {"", "\\n", "\\\"", "\x01", "\x7f", "\xc3\xa4"}) {
      std::string plain(length, 'x');
      expectSame("\"" + plain + special.str() + "\"");
      expectSame("\"" + plain + special.str() + "y\"");
      expectSame("\"" + plain + special.str());
    }
}
