// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep_reader.h"

#include <fmt/format.h>

#include "common/json/writer.h"

namespace tandem::cli {
namespace {

constexpr std::size_t kLongestText = 1000;

}  // namespace

SweepReader::SweepReader(JsonValue object) : JsonValue(object) {
  if (is_object()) return;
  complain(fmt::format(R"({} stands where an object has to be, such as {{"model": "mlp-small"}})",
                       shown(object)));
}

std::vector<JsonValue> SweepReader::values(std::string_view key) const {
  const JsonValue value = at(key);
  if (!value.is_list()) return {value};
  if (value.empty()) value.complain("the list is empty: give one value or more");
  return {value.begin(), value.end()};
}

std::string SweepReader::text(std::string_view key) const { return at(key).line(kLongestText); }

std::vector<std::string> SweepReader::texts(std::string_view key) const {
  std::vector<std::string> found;
  for (const JsonValue& value : values(key)) found.push_back(value.line(kLongestText));
  return found;
}

std::vector<std::int64_t> SweepReader::counts(std::string_view key) const {
  std::vector<std::int64_t> found;
  for (const JsonValue& value : values(key)) found.push_back(value.whole(1, 1'000'000'000));
  return found;
}

std::vector<std::string> SweepReader::names(std::string_view key,
                                            std::span<const std::string_view> known) const {
  std::vector<std::string> found;
  for (const JsonValue& value : values(key)) found.emplace_back(known[value.one_of(known)]);
  return found;
}

int SweepReader::count(std::string_view key, int fallback, int most) const {
  const auto found = find(key);
  return found ? static_cast<int>(found->whole(1, most)) : fallback;
}

std::vector<JsonValue> SweepReader::objects(std::string_view key) const {
  const JsonValue list = at(key);
  if (!list.is_list()) list.complain("it must be a list of objects");
  return values(key);
}

std::string option_text(const JsonValue& value) {
  if (value.is_text()) {
    if (value.text().empty()) return "";
    return value.line(kLongestText);
  }
  if (value.kind() == JsonKind::kBoolean) return value.boolean() ? "on" : "off";
  if (value.is_number()) return json_line(value);
  value.complain(fmt::format("{}: an option takes a text, a number, true or false", shown(value)));
}

}  // namespace tandem::cli
