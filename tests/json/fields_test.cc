// SPDX-License-Identifier: Apache-2.0
#include "common/json/fields.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/json/parse.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

enum class Colour { kRed, kBlue };
constexpr std::array<std::string_view, 2> json_names(Colour) { return {"red", "blue"}; }

struct Point {
  int x = 7;
  double y = 0;
};
constexpr auto json_fields(const Point*) {
  return std::tuple(field("x", &Point::x, {.required = true, .range = {.least = 1}}),
                    field("y", &Point::y, {.range = {.least = -1, .most = 1}}));
}

struct Picture {
  std::string name;
  Colour colour = Colour::kRed;
  std::vector<Point> points;
  std::vector<std::vector<std::string>> words;
  std::map<std::string, double> sizes;
  std::optional<bool> framed;
  std::uint8_t small = 0;
  std::map<std::string, std::string> others;
  int readings = 0;
};
constexpr auto json_fields(const Picture*) {
  return std::tuple(field("name", &Picture::name), field("colour", &Picture::colour),
                    field("points", &Picture::points), field("words", &Picture::words),
                    field("sizes", &Picture::sizes, {.range = {.least = 0, .most = 10}}),
                    field("framed", &Picture::framed), field("small", &Picture::small),
                    other_texts(&Picture::others));
}
void finish_reading(Picture& picture, const JsonValue& json) {
  ++picture.readings;
  if (picture.name == "untitled") json.complain("a picture has a title");
}

Picture picture_in(std::string_view text) {
  return read_as<Picture>(JsonDocument(JsonAuthor::kProgram, text, "text").root());
}

std::string refusal_of(std::string_view text) {
  return test::error_of([&] { (void)picture_in(text); }).what();
}

constexpr const char* kWhole =
    R"({"name":"sea \"1\"","colour":"blue","points":[{"x":1,"y":0.5},{"x":2,"y":-1.0}],)"
    R"("words":[["a"],[]],"sizes":{"k\n":1.0},"framed":false,"small":255,"more":"text"})";

TEST(JsonFields, OneListReadsAndWrites) {
  const Picture picture = picture_in(kWhole);
  EXPECT_EQ(json_line(picture), kWhole);
  EXPECT_EQ(picture.points.at(1).x, 2);
  EXPECT_EQ(picture.colour, Colour::kBlue);
  EXPECT_EQ(picture.others, (std::map<std::string, std::string>{{"more", "text"}}));
  EXPECT_EQ(picture.readings, 1);
}

TEST(JsonFields, WhatIsAbsent_KeepsItsDefault) {
  const Picture picture = picture_in(R"({"unknown": [1, {}]})");
  EXPECT_EQ(picture.colour, Colour::kRed);
  EXPECT_FALSE(picture.framed);
  EXPECT_EQ(json_line(picture),
            R"({"name":"","colour":"red","points":[],"words":[],"sizes":{},"small":0})");
}

TEST(JsonFields, Defects_AreNamedByTheirPlace) {
  EXPECT_EQ(refusal_of(R"({"points": [{"x": 1}, {"y": 0}]})"),
            "reading text: points[1]: key 'x' is missing");
  EXPECT_EQ(refusal_of(R"({"points": [{"x": 0}]})"),
            "reading text: points[0].x: 0: use a whole number from 1 to 2147483647");
  EXPECT_EQ(refusal_of(R"({"points": [{"x": 1, "y": 2}]})"),
            "reading text: points[0].y: 2: use a number from -1 to 1");
  EXPECT_EQ(refusal_of(R"({"points": {}})"),
            "reading text: points: {} stands where a list has to be");
  EXPECT_EQ(refusal_of(R"({"sizes": {"a": 11}})"),
            "reading text: sizes.a: 11: use a number from 0 to 10");
  EXPECT_EQ(
      refusal_of(R"({"colour": "bleu"})"),
      "reading text: colour: \"bleu\" is unknown (did you mean 'blue'?); known are red, blue");
  EXPECT_EQ(refusal_of(R"({"framed": null})"),
            "reading text: framed: null stands where true or false has to be");
  EXPECT_EQ(refusal_of(R"({"small": 256})"),
            "reading text: small: 256: use a whole number from 0 to 255");
  EXPECT_EQ(refusal_of("[]"), "reading text: [] stands where an object has to be");
  EXPECT_EQ(refusal_of(R"({"name": "untitled"})"), "reading text: a picture has a title");
}

TEST(JsonFields, NumbersThatAreNotFinite_AreNeverWritten) {
  const Point point{.x = 1, .y = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(test::error_of([&] { (void)json_line(point); }).kind(), ErrorKind::kLogic);
}

TEST(JsonWriter, WritesAsTheLibraryDoes_InAnyLayout) {
  const JsonDocument document(JsonAuthor::kProgram, kWhole, "text");
  EXPECT_EQ(json_line(document.root()), kWhole);
  std::string text;
  JsonWriter writer([&](std::string_view part) { text += part; }, 2);
  writer.open("", '{');
  writer.open("empty", '[');
  writer.close();
  writer.open("list", '[');
  writer.value("", 1);
  writer.null("");
  writer.close();
  writer.value("odd \xff\n", 0.1);
  writer.value("none", std::numeric_limits<double>::quiet_NaN());
  writer.close();
  writer.finish();
  EXPECT_EQ(
      text,
      "{\n  \"empty\": [],\n  \"list\": [\n    1,\n    null\n  ],\n  \"odd \xef\xbf\xbd\\n\": "
      "0.1,\n  \"none\": null\n}\n");
}

}  // namespace
}  // namespace tandem
