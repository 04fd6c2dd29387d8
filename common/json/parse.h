// SPDX-License-Identifier: Apache-2.0
//
// JSON texts into values, by the library's parser. A text that nests deeper than 64 is refused,
// since readers take a stack frame per level. A person's text is refused as well where a key stands
// twice in an object, since a reader would see only one of the two, and where an object has more
// than 1000 keys, since readers search them; such errors name the line, and broken syntax also the
// column (in bytes).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/json/value.h"

namespace tandem {

// A text that is one value. Its values borrow it, and outlive a move of it.
class JsonDocument {
 public:
  explicit JsonDocument(JsonAuthor author);
  // Reads a text; errors begin with `source`, after "reading " where a program is the author.
  JsonDocument(JsonAuthor author, std::string_view text, std::string source);

  // Reads a text in place of the one before; reading several texts in turn takes no new memory.
  void read(std::string_view text, std::string source);

  [[nodiscard]] JsonValue root() const { return {*nodes_, 0}; }

 private:
  std::unique_ptr<JsonNodes> nodes_;
};

// A program's text where it is a JSON object, whose errors begin with "reading " and `source`;
// nothing for any other text.
[[nodiscard]] std::optional<JsonDocument> object_in(std::string_view text, std::string source);

// Appends at least one byte and about as many as requested; false at the text's end.
using TextParts = std::function<bool(std::string&, std::size_t)>;

// The callbacks for reading a text that is never whole in memory. A path is as JsonValue::path(),
// but has "[]" for any element of a list.
struct JsonParts {
  // Whether the content of this list or object is passed one by one instead of as a whole.
  std::function<bool(std::string_view path, JsonKind kind)> enters;
  // Takes a value that is not entered; the value ends with the call.
  std::function<void(std::string_view path, const JsonValue& value)> take;
};

// Reads a program's text by `parts`. Throws as JsonDocument::read(), and passes on exceptions of
// the two functions.
void read_parts(const TextParts& text, std::string source, const JsonParts& parts);

}  // namespace tandem
