// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Private to results: the nodes of a JSON value, as a list in the text's order. A tree of a
// document of many launches takes ten times the memory of the text, and most of the time of
// reading; a node list is filled with one value after the other, in the same memory.
namespace tandem::results {

enum class JsonKind : std::uint8_t {
  kNull,
  kBoolean,
  kInteger,  // an integer below 0
  kNatural,
  kReal,
  kText,
  kList,
  kObject
};

struct JsonNode {
  // A place in JsonNodes::texts.
  struct Text {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  JsonKind kind = JsonKind::kNull;
  std::size_t next = 0;  // index of the first node outside this one
  Text key{};            // key of an object's member
  Text text{};           // value of kText
  double real = 0;       // value of kReal
  std::int64_t integer = 0;
  std::uint64_t natural = 0;  // value of kNatural; of kBoolean 0 or 1
};

struct JsonNodes {
  std::vector<JsonNode> list;
  std::string texts;
};

}  // namespace tandem::results
