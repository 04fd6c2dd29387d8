// SPDX-License-Identifier: Apache-2.0
#include "common/model/json_cursor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/base/known_names.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestText = 200;
constexpr std::size_t kLongestList = 100'000;

// The value at this place as text, cut where the text is long.
std::string shown(const nlohmann::ordered_json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace

JsonCursor::JsonCursor(const Json& document, std::string source)
    : JsonCursor(document, std::move(source), "") {}

JsonCursor::JsonCursor(const Json& value, std::string source, std::string path)
    : value_(&value), source_(std::move(source)), path_(std::move(path)) {}

void JsonCursor::complain(const std::string& what) const {
  if (path_.empty()) fail(ErrorKind::kUsage, "{}: {}", source_, what);
  fail(ErrorKind::kUsage, "{}: {}: {}", source_, path_, what);
}

void JsonCursor::allow(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object()) {
    complain(fmt::format("{} stands where an object has to be", shown(*value_)));
  }
  for (const auto& [key, value] : value_->items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view nearest = nearest_name(key, std::span(known.begin(), known.size()));
    if (!nearest.empty()) {
      complain(fmt::format("unknown key {}: did you mean '{}'?", shown(key), nearest));
    }
    complain(fmt::format("unknown key {}: known are {}", shown(key), fmt::join(known, ", ")));
  }
}

JsonCursor JsonCursor::at(const char* key) const {
  const auto found = find(key);
  if (!found) complain(fmt::format("key '{}' is missing", key));
  return *found;
}

std::optional<JsonCursor> JsonCursor::find(const char* key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonCursor(*found, source_, path_.empty() ? key : fmt::format("{}.{}", path_, key));
}

std::vector<JsonCursor> JsonCursor::elements() const {
  if (!value_->is_array()) {
    complain(fmt::format("{} stands where a list has to be", shown(*value_)));
  }
  if (value_->size() > kLongestList) {
    complain(fmt::format("a list of {}: use {} or fewer", value_->size(), kLongestList));
  }
  std::vector<JsonCursor> all;
  for (const Json& element : *value_) {
    all.push_back(JsonCursor(element, source_, fmt::format("{}[{}]", path_, all.size())));
  }
  return all;
}

std::string JsonCursor::text() const {
  if (!value_->is_string()) {
    complain(fmt::format("{} stands where a text has to be", shown(*value_)));
  }
  const auto& text = value_->get_ref<const std::string&>();
  const bool is_plain = std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (text.empty() || text.size() > kLongestText || !is_plain) {
    complain(
        fmt::format("{}: use a text of 1 to {} printable bytes", shown(*value_), kLongestText));
  }
  return text;
}

std::int64_t JsonCursor::whole(std::int64_t least, std::int64_t most) const {
  const bool is_wide = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
  if (!value_->is_number_integer() || is_wide || value_->get<std::int64_t>() < least ||
      value_->get<std::int64_t>() > most) {
    complain(fmt::format("{}: use a whole number from {} to {}", shown(*value_), least, most));
  }
  return value_->get<std::int64_t>();
}

double JsonCursor::number(double least, double most) const {
  const double value = value_->is_number() ? value_->get<double>() : NAN;
  if (!(value >= least && value <= most)) {
    complain(fmt::format("{}: use a number from {:g} to {:g}", shown(*value_), least, most));
  }
  return value;
}

}  // namespace tandem
