// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/results/json_reading.h"

// Private to results: JSON texts, read by the library's parser, value by value.
namespace tandem::results {

// A text that is one value. Reading one after the other takes no new memory.
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

// A text as the library's tree; throws as ScannedJson::scan.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);

// Appends at least a byte and about as many as are asked for; false at the text's end.
using TextParts = std::function<bool(std::string&, std::size_t)>;

// How a text is read that is never whole in memory. A path has a "/" and the key for each member
// of an object, and a "/" alone for an element of a list; that of the whole text is empty.
struct JsonParts {
  // Whether this list or object is not to come as a whole, but what it holds, one by one.
  std::function<bool(std::string_view path, JsonKind kind)> enters;
  // A value that is not entered; it ends with the call.
  std::function<void(std::string_view path, const JsonValue& value)> take;
};

// Throws as ScannedJson::scan, and whatever the two functions throw.
void read_parts(const TextParts& text, std::string_view source, const JsonParts& parts);

}  // namespace tandem::results
