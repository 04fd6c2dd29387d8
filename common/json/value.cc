// SPDX-License-Identifier: Apache-2.0
#include "common/json/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/json/writer.h"

namespace tandem {
namespace {

// Cuts a printable text to the room of an error.
std::string cut(std::string text) {
  constexpr std::size_t kMost = 80;
  std::ranges::replace(text, '\x7f', '?');
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

// A key as a step of a path.
std::string step(std::string_view key) {
  constexpr std::size_t kUsual = 40;
  return is_printable(key) && key.size() <= kUsual ? std::string(key) : shown(key);
}

}  // namespace

void JsonValue::complain(std::string_view what) const {
  const std::string place = path();
  const std::string text = place.empty() ? std::string(what) : fmt::format("{}: {}", place, what);
  if (nodes_->author == JsonAuthor::kPerson) {
    fail(ErrorKind::kUsage, "{}: {}", nodes_->source, text);
  }
  fail(ErrorKind::kFailure, "reading {}: {}", nodes_->source, text);
}

std::string JsonValue::path() const {
  std::string path = nodes_->path;
  for (std::size_t at = 0; at != place_;) {
    const bool is_list = nodes_->list[at].kind == JsonKind::kList;
    std::size_t index = 0;
    for (++at; nodes_->list[at].next <= place_; at = nodes_->list[at].next) ++index;
    if (is_list) {
      path += fmt::format("[{}]", index);
      continue;
    }
    if (!path.empty()) path += '.';
    path += step(view(nodes_->list[at].key));
  }
  constexpr std::size_t kLongest = 400;
  if (path.size() > kLongest) path.replace(0, path.size() - kLongest, "...");
  return path;
}

bool JsonValue::is_whole() const {
  return kind() == JsonKind::kInteger || kind() == JsonKind::kNatural;
}

std::size_t JsonValue::size() const {
  return static_cast<std::size_t>(std::distance(begin(), end()));
}

std::vector<JsonValue> JsonValue::elements() const {
  constexpr std::size_t kLongest = 100'000;
  if (!is_list()) complain(fmt::format("{} stands where a list has to be", shown(*this)));
  std::vector<JsonValue> all(begin(), end());
  if (all.size() <= kLongest) return all;
  complain(fmt::format("a list of {}: use {} or fewer", all.size(), kLongest));
}

std::vector<JsonValue> JsonValue::values() const {
  if (!is_list()) return {*this};
  if (empty()) complain("the list is empty: give one value or more");
  return {begin(), end()};
}

std::optional<JsonValue> JsonValue::find_between(std::string_view key, std::size_t from,
                                                 std::size_t to) const {
  for (std::size_t at = from; at < to; at = nodes_->list[at].next) {
    if (view(nodes_->list[at].key) == key) return JsonValue(*nodes_, at);
  }
  return std::nullopt;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  std::size_t hint = 0;
  return find(key, hint);
}

std::optional<JsonValue> JsonValue::find(std::string_view key, std::size_t& hint) const {
  if (!is_object()) return std::nullopt;
  const std::size_t first = std::max(hint, place_ + 1);
  auto found = find_between(key, first, node().next);
  if (!found) found = find_between(key, place_ + 1, first);
  if (found) hint = found->node().next;
  return found;
}

JsonValue JsonValue::at(std::string_view key) const {
  const auto found = find(key);
  if (!found) complain(fmt::format("key '{}' is missing", key));
  return *found;
}

void JsonValue::expect_object() const {
  if (!is_object()) complain(fmt::format("{} stands where an object has to be", shown(*this)));
}

void JsonValue::allow(std::span<const std::string_view> known) const {
  expect_object();
  for (const JsonValue member : *this) {
    if (std::ranges::find(known, member.key()) != known.end()) continue;
    complain(fmt::format("unknown key {}{}; known are {}", shown_name(member.key()),
                         did_you_mean(member.key(), known), fmt::join(known, ", ")));
  }
}

bool JsonValue::boolean() const {
  if (kind() == JsonKind::kBoolean) return node().natural != 0;
  complain(fmt::format("{} stands where true or false has to be", shown(*this)));
}

std::string_view JsonValue::text() const {
  if (is_text()) return view(node().text);
  complain(fmt::format("{} stands where a text has to be", shown(*this)));
}

std::string JsonValue::line(std::size_t most) const {
  const std::string_view found = text();
  if (!found.empty() && found.size() <= most && is_printable(found)) return std::string(found);
  complain(fmt::format("{}: use a text of 1 to {} printable bytes", shown(*this), most));
}

std::size_t JsonValue::one_of(std::span<const std::string_view> names) const {
  const std::string_view name = is_text() ? text() : "";
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  complain(fmt::format("{} is unknown{}; known are {}", shown(*this), did_you_mean(name, names),
                       fmt::join(names, ", ")));
}

double JsonValue::number(JsonRange range) const {
  double value = NAN;
  if (kind() == JsonKind::kReal) value = node().real;
  if (kind() == JsonKind::kInteger) value = static_cast<double>(node().integer);
  if (kind() == JsonKind::kNatural) value = static_cast<double>(node().natural);
  if (value >= range.least && value <= range.most) return value;
  if (std::isinf(range.most)) complain(fmt::format("{}: use a number", shown(*this)));
  complain(
      fmt::format("{}: use a number from {:g} to {:g}", shown(*this), range.least, range.most));
}

std::int64_t JsonValue::whole(std::int64_t least, std::int64_t most) const {
  const bool is_wide = kind() == JsonKind::kNatural && node().natural > INT64_MAX;
  if (is_whole() && !is_wide) {
    const std::int64_t value =
        kind() == JsonKind::kInteger ? node().integer : static_cast<std::int64_t>(node().natural);
    if (value >= least && value <= most) return value;
  }
  complain(fmt::format("{}: use a whole number from {} to {}", shown(*this), least, most));
}

std::string shown(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, 0, JsonWriter::Letters::kAscii);
  writer.copy("", value);
  return cut(std::move(text));
}

std::string shown(std::string_view text) {
  return cut(json_text(text, JsonWriter::Letters::kAscii));
}

std::string shown_name(std::string_view text) {
  const std::string found = shown(text);
  const std::size_t ends = found.ends_with("...") ? 0 : 1;
  return fmt::format("'{}'", std::string_view(found).substr(1, found.size() - 1 - ends));
}

}  // namespace tandem
