// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_writer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tandem::results {
namespace {

bool needs_escapes(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
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

void JsonWriter::value(std::string_view key, bool value) {
  begin(key);
  text_ += value ? "true" : "false";
}

// Writes the library's digits, since another shortest form would be as exact but change documents.
void JsonWriter::value(std::string_view key, double value) {
  begin(key);
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  std::array<char, 64> digits{};
  text_.append(digits.data(),
               nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

void JsonWriter::value(std::string_view key, std::string_view value) {
  begin(key);
  append_text(value);
}

void JsonWriter::tree(std::string_view key, const Json& json) {
  begin(key);
  const int indent = layout_ == Layout::kPretty ? 2 : -1;
  for (const char c : json.dump(indent, ' ', false, Json::error_handler_t::replace)) {
    if (c == '\n') {
      new_line();
    } else {
      text_ += c;
    }
  }
}

void JsonWriter::finite_value(std::string_view key, const std::vector<double>& numbers) {
  for (const double number : numbers) (void)finite(number, key);
  value(key, numbers);
}

void JsonWriter::finite_value(std::string_view key, const std::map<std::string, double>& numbers) {
  for (const auto& [name, number] : numbers) (void)finite(number, name);
  value(key, numbers);
}

void JsonWriter::finish() {
  if (layout_ == Layout::kPretty) text_ += '\n';
  flush();
}

void JsonWriter::begin(std::string_view key) {
  constexpr std::size_t kEnough = 1 << 20;
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (text_.size() > kEnough) flush();
  if (closing_.empty()) return;
  if (!is_empty_) text_ += ',';
  new_line();
  is_empty_ = false;
  if (key.empty()) return;
  text_ += '"';
  text_ += key;
  text_ += layout_ == Layout::kPretty ? "\": " : "\":";
}

void JsonWriter::append_text(std::string_view text) {
  if (needs_escapes(text)) {
    text_ += dump(Json(text));
  } else {
    text_ += '"';
    text_ += text;
    text_ += '"';
  }
}

void JsonWriter::new_line() {
  if (layout_ == Layout::kPretty) text_.append(1, '\n').append(2 * closing_.size(), ' ');
}

void JsonWriter::flush() {
  sink_(text_);
  text_.clear();
}

}  // namespace tandem::results
