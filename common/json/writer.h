// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <charconv>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>

#include "common/json/value.h"

namespace tandem {

// Writes JSON piece by piece, byte for byte as the library's dump() would: for many launches a tree
// would need several times the memory of the text, and most of the time. Invalid UTF-8 is replaced,
// since stderr of a crashed child may hold any bytes. Within an object each value takes its key;
// elsewhere the key is ignored.
class JsonWriter : boost::noncopyable {
 public:
  using Sink = std::function<void(std::string_view)>;
  enum class Letters { kAll, kAscii };  // kAscii escapes all other letters

  // Appends to `text`: in one line, or indented by `indent` spaces per level.
  explicit JsonWriter(std::string& text, std::size_t indent = 0, Letters letters = Letters::kAll)
      : text_(text), indent_(indent), letters_(letters) {}
  // Passes the text to `sink` in parts.
  JsonWriter(Sink sink, std::size_t indent)
      : text_(buffer_), sink_(std::move(sink)), indent_(indent) {}

  void open(std::string_view key, char bracket);
  void close();

  void null(std::string_view key);
  void value(std::string_view key, bool value);
  void value(std::string_view key, double value);  // null where the value is not finite
  void value(std::string_view key, std::string_view value);
  void value(std::string_view key, const std::string& value) {
    this->value(key, std::string_view(value));
  }
  void value(std::string_view key, const char* value) { this->value(key, std::string_view(value)); }

  template <std::integral T>
  void value(std::string_view key, T value) {
    char digits[24];
    begin(key);
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  // Writes a value of another text, with all its content.
  void copy(std::string_view key, const JsonValue& value);

  // Ends the text by a newline, and passes the rest of it to the sink.
  void finish();

 private:
  void begin(std::string_view key);
  void append_text(std::string_view text);
  void new_line();
  void flush();

  std::string buffer_;
  std::string& text_;  // text that is not passed to the sink yet
  Sink sink_;
  std::size_t indent_ = 0;  // 0: one line
  Letters letters_ = Letters::kAll;
  std::string closing_;  // closing brackets of open values, the innermost last
  bool is_empty_ = true;
};

// A text as JSON, between double quotes.
[[nodiscard]] std::string json_text(std::string_view text,
                                    JsonWriter::Letters letters = JsonWriter::Letters::kAll);

// A value and its content in one line.
[[nodiscard]] std::string json_line(const JsonValue& value);

}  // namespace tandem
