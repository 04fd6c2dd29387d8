// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/results/json_reading.h"

// Private to results: JSON texts, read value by value by the library's parser.
namespace tandem::results {

// A text that is one value. Reading several texts in turn takes no new memory.
class ScannedJson {
 public:
  ScannedJson() = default;
  ScannedJson(std::string_view text, std::string_view source) { scan(text, source); }

  // Throws a failure that names `source` where the text is no JSON, or nests deeper than 64.
  void scan(std::string_view text, std::string_view source);

  [[nodiscard]] JsonValue root() const { return {nodes_, 0}; }

 private:
  JsonNodes nodes_;
};

// Parses a text into the library's tree; throws as ScannedJson::scan().
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);

// Appends at least one byte and about as many as requested; false at the text's end.
using TextParts = std::function<bool(std::string&, std::size_t)>;

// The callbacks for reading a text that is never whole in memory. A path has a "/" and the key for
// each member of an object, and a "/" alone for an element of a list; the path of the whole text is
// empty.
struct JsonParts {
  // Whether the content of this list or object is passed one by one instead of as a whole.
  std::function<bool(std::string_view path, JsonKind kind)> enters;
  // Takes a value that is not entered; the value ends with the call.
  std::function<void(std::string_view path, const JsonValue& value)> take;
};

// Reads a text by `parts`. Throws as ScannedJson::scan(), and passes on exceptions of the two
// functions.
void read_parts(const TextParts& text, std::string_view source, const JsonParts& parts);

}  // namespace tandem::results
