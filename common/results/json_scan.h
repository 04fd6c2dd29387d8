// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// Private to results: what a JSON text holds, as a list. A tree of a document of many launches
// takes ten times the memory of its text, and building it most of the time of reading it; numbers
// and texts stay here what they are in the text until they are asked for (json_reading.h).
namespace tandem::results {

enum class JsonKind : std::uint8_t { kNull, kBoolean, kNumber, kText, kList, kObject };

struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  bool has_escapes = false;      // of a text; it is without its quotes here
  bool key_has_escapes = false;  // of a member of an object
  std::uint32_t next = 0;        // place of the first node that is not within this one
  std::string_view key;
  std::string_view text;
};

enum class JsonScan : std::uint8_t { kWhole, kCutOff, kInvalid, kTooDeep };

// Reads the value that `text` begins with, space before it allowed, and puts it and whatever it
// holds into `nodes`, in the text's order; they borrow the text. `end` is where the value ends.
// JSON as RFC 8259 has it: UTF-8, checked. kCutOff: the text may be the beginning of a value.
// `depth` is how many lists and objects the value lies within; 64 are the most.
[[nodiscard]] JsonScan scan_json(std::string_view text, int depth, std::vector<JsonNode>& nodes,
                                 std::size_t& end);

// Where the text goes on behind space.
[[nodiscard]] std::size_t behind_space(std::string_view text, std::size_t place);

}  // namespace tandem::results
