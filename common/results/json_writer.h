// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/files.h"
#include "common/results/json_values.h"

// Private to results.
namespace tandem::results {

// Writes JSON piece by piece, byte for byte as the library's dump() would: for many launches a tree
// would need several times the memory of the text, and most of the time. An element of a list has
// the key "".
class JsonWriter {
 public:
  enum class Layout { kLine, kPretty };  // kPretty indents by two

  // Passes the text to `sink` in parts; `sink` outlives the writer.
  JsonWriter(Layout layout, const TextSink& sink) : layout_(layout), sink_(sink) {}

  void open(std::string_view key, char bracket);
  void close();

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

  template <class T>
  void value(std::string_view key, const std::vector<T>& values) {
    open(key, '[');
    for (const T& element : values) value("", element);
    close();
  }

  template <class T>
  void value(std::string_view key, const std::map<std::string, T>& values) {
    open(key, '{');
    for (const auto& [name, element] : values) member(name, element);
    close();
  }

  void tree(std::string_view key, const Json& json);

  // Throws a logic error that names `key` where the number is not finite.
  void finite_value(std::string_view key, double number) { value(key, finite(number, key)); }

  // Writes each of the numbers; throws as the function above.
  void finite_value(std::string_view key, const std::vector<double>& numbers);
  void finite_value(std::string_view key, const std::map<std::string, double>& numbers);

  // Passes the rest of the text to the sink, with a newline at the end in layout kPretty.
  void finish();

 private:
  // Writes a member whose key may need escapes.
  template <class T>
  void member(const std::string& name, const T& element) {
    begin("");
    append_text(name);
    text_ += layout_ == Layout::kPretty ? ": " : ":";
    after_key_ = true;
    value("", element);
  }

  void begin(std::string_view key);
  void append_text(std::string_view text);
  void new_line();
  void flush();

  Layout layout_;
  const TextSink& sink_;
  std::string text_;     // text that is not passed to the sink yet
  std::string closing_;  // closing brackets of open values, the innermost last
  bool is_empty_ = true;
  bool after_key_ = false;
};

template <class T>
void write_list(JsonWriter& writer, std::string_view key, const std::vector<T>& values,
                void (*write)(JsonWriter&, std::string_view, const T&)) {
  writer.open(key, '[');
  for (const T& value : values) write(writer, "", value);
  writer.close();
}

}  // namespace tandem::results
