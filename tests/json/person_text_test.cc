// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/json/parse.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

void take(std::string_view text) { (void)JsonDocument(JsonAuthor::kPerson, text, "own.json"); }

std::string complaint_of(const std::string& text) {
  const Error error = test::error_of([&] { take(text); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
  const std::string line = error.what();
  EXPECT_TRUE(line.starts_with("own.json: ")) << line;
  EXPECT_TRUE(line.size() < 200 && line.find('\n') == std::string::npos) << line;
  return line;
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(JsonOfAPerson, IsTaken_WhateverItHolds) {
  for (const char* text : {"{}", "[]", "0", "\"\"", "null", " [1, -2.5e-3, true, {\"a\": []}]\n",
                           "{\"a\": {\"a\": 1}, \"b\": {\"a\": 2}}", "[{\"a\": 1}, {\"a\": 1}]",
                           "{\"a\": \"a\", \"A\": \"a\", \"\": \"\"}"}) {
    EXPECT_NO_THROW(take(text)) << text;
  }
}

TEST(JsonOfAPerson, BrokenSyntax_IsNamedByLineAndColumn) {
  EXPECT_TRUE(complaint_of("").ends_with("not valid JSON, from line 1, column 1; mend it"));
  EXPECT_TRUE(complaint_of("\x1f\x8b\b").ends_with("it is compressed; gunzip it first"));
  EXPECT_TRUE(complaint_of("{").ends_with("line 1, column 2; mend it"));
  EXPECT_TRUE(complaint_of("{\n \"a\": [1,,2]}").ends_with("line 2, column 10; mend it"));
  EXPECT_TRUE(complaint_of("{}\n\n{}").ends_with("line 3, column 1; mend it"));
  EXPECT_TRUE(complaint_of("[\n1e999]").ends_with("column 5: a number is out of range; mend it"));
  EXPECT_NE(complaint_of("[\"\xff\"]").find("line 1, column 3"), std::string::npos);
  EXPECT_NE(complaint_of(std::string("\0", 1)).find("line 1, column 1"), std::string::npos);
}

TEST(JsonOfAPerson, AKeyThatStandsTwice_IsNamed_WithItsLine) {
  EXPECT_EQ(complaint_of("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
            "own.json: key \"a\" stands twice in one object, again in line 3: give it once");
  EXPECT_NE(complaint_of("[{\"x\": {\"p\": 1, \"q\": {\"p\": 1}, \"p\": 2}}]").find("key \"p\""),
            std::string::npos);
  EXPECT_NE(complaint_of("{\"a\": 1, \"\\u0061\": 2}").find("key \"a\""), std::string::npos)
      << "however it is written";
  EXPECT_NE(complaint_of("{\"\\n\": 1, \"\\n\": 2}").find("key \"\\n\""), std::string::npos);
  const std::string longest = "\"" + std::string(5000, 'k') + "\": 1";
  EXPECT_NE(complaint_of("{" + longest + "," + longest + "}").find("kkk..."), std::string::npos);
}

TEST(JsonOfAPerson, DeepNesting_IsRefused_BeforeAnyReaderGoesDown) {
  EXPECT_NO_THROW(take(repeated("[", 64) + repeated("]", 64)));
  EXPECT_NE(complaint_of(repeated("[", 65)).find("nests deeper than 64"), std::string::npos);
  EXPECT_NE(complaint_of(repeated("{\"a\":", 1'000'000)).find("nests deeper"), std::string::npos);
}

TEST(JsonOfAPerson, ObjectsOfVeryManyKeys_AreRefused) {
  const auto object_of = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_NO_THROW(take(object_of(1000)));
  EXPECT_NE(complaint_of(object_of(1001)).find("more than 1000 keys"), std::string::npos);
}

}  // namespace
}  // namespace tandem
