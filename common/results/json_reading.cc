// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_reading.h"

#include <cmath>
#include <cstdlib>

#include "common/base/error.h"
#include "common/results/json_text.h"
#include "common/results/json_values.h"

namespace tandem::results {
namespace {

// A number too small for a double is 0, one too large is none.
bool double_from(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return error == std::errc{};
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value);
}

}  // namespace

std::string JsonValue::key() const {
  return node().key_has_escapes ? without_escapes(node().key) : std::string(node().key);
}

std::string_view JsonValue::raw() const {
  const std::string_view text = node().text;
  return kind() == JsonKind::kText ? std::string_view(text.data() - 1, text.size() + 2) : text;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (kind() != JsonKind::kObject) return std::nullopt;
  for (std::size_t at = place_ + 1; at < node().next; at = (*nodes_)[at].next) {
    const JsonNode& member = (*nodes_)[at];
    const JsonValue value(*nodes_, at);
    if (member.key_has_escapes ? value.key() == key : member.key == key) return value;
  }
  return std::nullopt;
}

bool JsonValue::get(bool& value) const {
  value = node().text == "true";
  return kind() == JsonKind::kBoolean;
}

bool JsonValue::get(double& value) const {
  return kind() == JsonKind::kNumber && double_from(node().text, value);
}

bool JsonValue::get(std::string& value) const {
  if (kind() != JsonKind::kText) return false;
  value = node().has_escapes ? without_escapes(node().text) : std::string(node().text);
  return true;
}

void ScannedJson::scan(std::string_view text, std::string_view source) {
  std::size_t end = 0;
  const JsonScan scan = scan_first(text, 0, end);
  if (scan != JsonScan::kWhole) fail_scan(scan, source);
  if (behind_space(text, end) != text.size()) fail_scan(JsonScan::kInvalid, source);
}

void fail_scan(JsonScan scan, std::string_view source) {
  if (scan == JsonScan::kTooDeep) {
    fail(ErrorKind::kFailure, "reading {}: it nests too deep for a result; is it one?", source);
  }
  fail(ErrorKind::kFailure, "reading {}: it is not valid JSON; is the file cut off?", source);
}

void fail_value(std::string_view field, const JsonValue& value) {
  fail(ErrorKind::kFailure, "field '{}' is {}, which is no value for it", field,
       shown_json(value.raw()));
}

JsonValue required(const JsonValue& object, std::string_view field) {
  const std::optional<JsonValue> found = object.find(field);
  if (!found) fail(ErrorKind::kFailure, "field '{}' is missing", field);
  return *found;
}

}  // namespace tandem::results
