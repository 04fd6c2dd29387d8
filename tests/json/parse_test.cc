// SPDX-License-Identifier: Apache-2.0
#include "common/json/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/json/fields.h"

namespace tandem {
namespace {

JsonDocument from(std::string_view text) { return {JsonAuthor::kProgram, text, "text"}; }

bool is_json(std::string_view text) {
  try {
    const JsonDocument json = from(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Texts that are JSON, and texts that miss being so by little.
constexpr const char* kTexts[] = {"null",
                                  " true ",
                                  "false",
                                  "tru",
                                  "nulll",
                                  "0",
                                  "-0",
                                  "01",
                                  "-",
                                  "1.",
                                  ".5",
                                  "1.5e",
                                  "1e+9",
                                  "1e-9",
                                  "+1",
                                  "0x1",
                                  "1 2",
                                  "[]",
                                  "[1,]",
                                  "[,1]",
                                  "[1 2]",
                                  "[1",
                                  "]",
                                  "{}",
                                  "{\"a\":1}",
                                  "{\"a\" : 1 , \"b\" : [ ] }",
                                  "{\"a\"}",
                                  "{\"a\":}",
                                  "{\"a\":1,}",
                                  "{1:2}",
                                  "{'a':1}",
                                  "\"",
                                  "\"a",
                                  "\"a\"b",
                                  "\"\\\"\"",
                                  "\"\\",
                                  "\"\\x\"",
                                  "\"\\u12\"",
                                  "\"\\u12g4\"",
                                  "\"\\u00e9\"",
                                  "\"\\ud83d\\ude00\"",
                                  "\"\\ud83d\"",
                                  "\"\\ud83dx\"",
                                  "\"\\ude00\"",
                                  "\"\\ud83d\\ud83d\"",
                                  "\"\t\"",
                                  "\"\x7f\"",
                                  "\"\xc3\xa9\"",
                                  "\"\xc3\"",
                                  "\"\xc0\x80\"",
                                  "\"\xe0\x80\x80\"",
                                  "\"\xed\xa0\x80\"",
                                  "\"\xe2\x82\xac\"",
                                  "\"\xf0\x9f\x98\x80\"",
                                  "\"\xf4\x90\x80\x80\"",
                                  "\"\xff\"",
                                  "",
                                  " ",
                                  "\v1",
                                  "[1,\n\t2\r]",
                                  "{\"a\":{\"b\":[{\"c\":null}]}}",
                                  "[\"\\/\\b\\f\"]"};

// These, and every beginning of one.
std::vector<std::string> texts() {
  std::vector<std::string> found(std::begin(kTexts), std::end(kTexts));
  const std::string whole = R"({"a": [1, -2.5e3, "x\n"], "b": {"c": true, "d": null}})";
  for (std::size_t size = 0; size < whole.size(); ++size) found.push_back(whole.substr(0, size));
  return found;
}

TEST(JsonDocument, TakesWhatTheLibraryTakes) {
  for (const std::string& text : texts()) {
    EXPECT_EQ(is_json(text), nlohmann::json::accept(text)) << text;
  }
}

TEST(JsonDocument, Nests64Deep_AndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(is_json(nested(64)));
  EXPECT_FALSE(is_json(nested(65)));
  EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST(JsonValue, TextsHaveNoEscapesLeft) {
  for (const std::string text : {R"("a\"\\\/\b\f\n\r\tz")", R"("\u0041\u00e9\u20ac\ud83d\ude00")",
                                 R"("")", R"("plain")", "\"\xe2\x82\xac\""}) {
    EXPECT_EQ(from(text).root().text(), nlohmann::json::parse(text).get<std::string>());
  }
}

template <class T>
std::optional<T> read(std::string_view text) {
  try {
    return read_as<T>(from(text).root());
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(JsonValue, NumbersAreTakenExactly_OrNotAtAll) {
  EXPECT_EQ(read<int>("-7"), -7);
  EXPECT_EQ(read<int>("1.5"), std::nullopt);
  EXPECT_EQ(read<int>("1e3"), std::nullopt);
  EXPECT_EQ(read<int>("2147483648"), std::nullopt);
  EXPECT_EQ(read<std::int64_t>("2147483648"), 2147483648);
  EXPECT_EQ(read<int>("\"7\""), std::nullopt);
  EXPECT_EQ(read<int>("true"), std::nullopt);
  EXPECT_EQ(read<double>("7"), 7);
  EXPECT_EQ(read<double>("0.30000000000000004"), 0.1 + 0.2);
  EXPECT_EQ(read<double>("1e-999"), 0);
  EXPECT_EQ(read<double>("null"), std::nullopt);
  EXPECT_EQ(read<bool>("false"), false);
  EXPECT_EQ(read<bool>("0"), std::nullopt);
  EXPECT_EQ(read<std::vector<int>>("[1, 2.5]"), std::nullopt);
  EXPECT_EQ(read<std::vector<int>>("{\"a\": 1}"), std::nullopt);
}

TEST(JsonValue, MembersAreFoundByTheirPlainKey) {
  const JsonDocument json = from(R"({"x": {"b": 1}, "\u0062": {"k\n": 2, "m": 3}})");
  const std::optional<JsonValue> found = json.root().find("b");
  ASSERT_TRUE(found);
  EXPECT_EQ(json_line(*found), R"({"k\n":2,"m":3})");
  EXPECT_EQ((read_as<std::map<std::string, int>>(*found)),
            (std::map<std::string, int>{{"k\n", 2}, {"m", 3}}));
  EXPECT_FALSE(json.root().find("m"));
  EXPECT_FALSE(from("[1]").root().find("m"));
}

TEST(JsonValue, IsFoundWithAHint_InAnyOrder) {
  const JsonDocument json = from(R"({"a": 1, "b": 2, "c": 3})");
  std::size_t hint = 0;
  for (const char* key : {"b", "c", "a", "c", "a", "b"}) {
    const auto found = json.root().find(key, hint);
    ASSERT_TRUE(found) << key;
    EXPECT_EQ(found->key(), key);
  }
  EXPECT_FALSE(json.root().find("d", hint));
  EXPECT_TRUE(json.root().find("a", hint));
}

TEST(JsonValue, OfAMovedDocument_Stays) {
  JsonDocument first = from("[\"text\"]");
  const JsonValue value = first.root();
  const JsonDocument second = std::move(first);
  EXPECT_EQ(json_line(value), "[\"text\"]");
}

template <class Act>
std::string message_when(Act act) {
  const auto error = capture_error([&] { act(); });
  return error ? error->what() : "";
}

TEST(JsonValue, OfAnotherType_IsShownWithItsPlace) {
  EXPECT_EQ(message_when([] {
              (void)read_as<int>(from(R"({"a": [{}, {"n": [1,
 2.5]}]})")
                                     .root()
                                     .at("a")
                                     .elements()[1]
                                     .at("n"));
            }),
            "reading text: a[1].n: [1,2.5]: use a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(message_when([] { (void)from("{}").root().at("n"); }),
            "reading text: key 'n' is missing");
  EXPECT_EQ(message_when([] { (void)from("[1e999]"); }),
            R"(reading text: "1e999" is beyond all numbers; is it damaged?)");
  EXPECT_EQ(message_when([] { (void)from("[true, null]").root().elements()[1].text(); }),
            "reading text: [1]: null stands where a text has to be");
  const std::string longest(5000, 'k');
  const std::string key = R"({"a\n)" + longest + R"(": 7})";
  const std::string message = message_when([&] { (*from(key).root().begin()).expect_object(); });
  EXPECT_LT(message.size(), 200U) << message;
  EXPECT_NE(message.find(R"("a\nkkkk)"), std::string::npos) << message;
}

TEST(JsonValue, OneValue_StandsForAListOfOne) {
  const auto values = [](std::string_view text) { return from(text).root().values().size(); };
  EXPECT_EQ(values("7"), 1U);
  EXPECT_EQ(values("[7, 8]"), 2U);
  EXPECT_EQ(message_when([&] { (void)values("[]"); }),
            "reading text: the list is empty: give one value or more");
}

TEST(JsonValue, UnknownKey_IsNamedWithTheNearestOne) {
  const auto refusal = [](std::string_view text) {
    return message_when([&] { from(text).root().allow({"batch", "model"}); });
  };
  EXPECT_EQ(refusal(R"({"model": 1, "batch": 2})"), "");
  EXPECT_EQ(refusal(R"({"bach": 1})"),
            "reading text: unknown key 'bach' (did you mean 'batch'?); known are batch, model");
  EXPECT_EQ(refusal("7"), "reading text: 7 stands where an object has to be");
}

// What reading `text` comes by, where it arrives in parts of `size` bytes and the lists of the
// outermost object are entered.
std::string walked(std::string_view text, std::size_t size) {
  const TextParts parts = [&](std::string& to, std::size_t) {
    const std::string_view part = text.substr(0, size);
    text.remove_prefix(part.size());
    to += part;
    return !part.empty();
  };
  std::string found;
  read_parts(parts, "text",
             {.enters =
                  [&](std::string_view path, JsonKind kind) {
                    found += fmt::format("[{}]", path);
                    return path.empty() || (kind == JsonKind::kList &&
                                            path.find_first_of(".[") == std::string_view::npos);
                  },
              .take =
                  [&](std::string_view path, const JsonValue& value) {
                    found += fmt::format("{}={};", path, json_line(value));
                  }});
  return found;
}

TEST(JsonParts, AreTheSame_HoweverTheTextArrives) {
  const std::string text =
      " {\"a\" : 12 , \"list\":[ ], \"more\":[1.5 "
      ",{\"b\":[true]},\"\\ud83d\\ude00\"]\n,\"o\":{\"p\":[-1]},\"z\":null} ";
  const std::string expected =
      "[]a=12;[list][more]more[]=1.5;[more[]]more[]={\"b\":[true]};more[]=\"\xf0\x9f\x98\x80\";"
      "[o]o={\"p\":[-1]};z=null;";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(walked(text, size), expected) << size;
    EXPECT_EQ(walked("\xef\xbb\xbf" + text, size), expected) << size;
    EXPECT_EQ(walked("{}", size), "[]");
    EXPECT_EQ(walked("7", size), "=7;");
  }
}

TEST(JsonParts, AreNamedByTheirPlaceInTheWhole) {
  std::string_view text = R"({"o": {"list": [1, {"x": [2, null]}]}})";
  const TextParts parts = [&](std::string& to, std::size_t) {
    to += text;
    return !std::exchange(text, {}).empty();
  };
  std::string places;
  read_parts(parts, "text",
             {.enters = [](std::string_view path, JsonKind) { return path != "o.list[]"; },
              .take =
                  [&](std::string_view, const JsonValue& value) {
                    places += value.path() + ";";
                    if (value.is_object()) places += value.at("x").elements()[1].path() + ";";
                  }});
  EXPECT_EQ(places, "o.list[0];o.list[1];o.list[1].x[1];");
}

TEST(JsonParts, RefuseTheSame_HoweverTheTextArrives) {
  const std::string whole = R"({"a":12,"list":[1,"x"],"z":null})";
  std::vector<std::string> wrong{whole + "x",  whole + "{}", R"({"a":1,})",   R"({"a":[1,]})",
                                 R"({"a" 1})", R"({1:1})",   R"({"a":[1 2]})"};
  for (std::size_t size = 0; size < whole.size(); ++size) wrong.push_back(whole.substr(0, size));
  for (const std::string& text : wrong) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, text.size() + 1}) {
      EXPECT_THROW((void)walked(text, size), Error) << text;
    }
  }
}

}  // namespace
}  // namespace tandem
