// SPDX-License-Identifier: Apache-2.0
#include "common/json/writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tandem {
namespace {

bool needs_escapes(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
}

}  // namespace

void JsonWriter::open(std::string_view key, char bracket) {
  begin(key);
  text_ += bracket;
  closing_ += bracket == '{' ? '}' : ']';
  is_empty_ = true;
}

void JsonWriter::close() {
  const char bracket = closing_.back();
  closing_.pop_back();
  if (!is_empty_) new_line();
  text_ += bracket;
  is_empty_ = false;
}

void JsonWriter::null(std::string_view key) {
  begin(key);
  text_ += "null";
}

void JsonWriter::value(std::string_view key, bool value) {
  begin(key);
  text_ += value ? "true" : "false";
}

// Writes the library's digits, since another shortest form would be as exact but change documents.
void JsonWriter::value(std::string_view key, double value) {
  if (!std::isfinite(value)) return null(key);
  begin(key);
  std::array<char, 64> digits{};
  text_.append(digits.data(),
               nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

void JsonWriter::value(std::string_view key, std::string_view value) {
  begin(key);
  append_text(value);
}

void JsonWriter::copy(std::string_view key, const JsonValue& value) {
  switch (value.kind()) {
    case JsonKind::kNull:
      return null(key);
    case JsonKind::kBoolean:
      return this->value(key, value.boolean());
    case JsonKind::kInteger:
      return this->value(key, value.node().integer);
    case JsonKind::kNatural:
      return this->value(key, value.node().natural);
    case JsonKind::kReal:
      return this->value(key, value.node().real);
    case JsonKind::kText:
      return this->value(key, value.text());
    case JsonKind::kList:
    case JsonKind::kObject:
      break;
  }
  open(key, value.is_list() ? '[' : '{');
  for (const JsonValue part : value) copy(part.key(), part);
  close();
}

void JsonWriter::finish() {
  text_ += '\n';
  if (sink_) flush();
}

void JsonWriter::begin(std::string_view key) {
  constexpr std::size_t kEnough = 1 << 20;
  if (sink_ && text_.size() > kEnough) flush();
  if (closing_.empty()) return;
  if (!is_empty_) text_ += ',';
  new_line();
  is_empty_ = false;
  if (closing_.back() == ']') return;
  append_text(key);
  text_ += indent_ > 0 ? ": " : ":";
}

void JsonWriter::append_text(std::string_view text) {
  if (needs_escapes(text)) {
    text_ += json_text(text, letters_);
  } else {
    text_ += '"';
    text_ += text;
    text_ += '"';
  }
}

void JsonWriter::new_line() {
  if (indent_ > 0) text_.append(1, '\n').append(indent_ * closing_.size(), ' ');
}

void JsonWriter::flush() {
  sink_(text_);
  text_.clear();
}

std::string json_text(std::string_view text, JsonWriter::Letters letters) {
  return nlohmann::json(text).dump(-1, ' ', letters == JsonWriter::Letters::kAscii,
                                   nlohmann::json::error_handler_t::replace);
}

std::string json_line(const JsonValue& value) {
  std::string text;
  JsonWriter(text).copy("", value);
  return text;
}

}  // namespace tandem
