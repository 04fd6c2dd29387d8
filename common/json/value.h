// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

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

// The author of a text decides what a defect means. A person's mistake is a usage error, and a key
// that stands twice in an object is such a mistake. A program's text has defects only where the
// text is damaged or newer, which is a failure.
enum class JsonAuthor { kPerson, kProgram };

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

// The values of a text, in the text's order. A tree of a document of many launches takes ten times
// the memory of the text, and most of the time of reading; this list is filled with one value after
// the other, in the same memory.
struct JsonNodes {
  std::vector<JsonNode> list;
  std::string texts;
  JsonAuthor author = JsonAuthor::kProgram;
  std::string source;  // begins every error
  std::string path;    // the place of the first node, where the values are a part of the text
};

// The bounds of a number, both included.
struct JsonRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

// A JSON value, which borrows its JsonNodes. Every function that demands something of the value
// throws an error of one line: the source, the value's place, the defect and the remedy.
class JsonValue {
 public:
  class Iterator;

  JsonValue(const JsonNodes& nodes, std::size_t place) : nodes_(&nodes), place_(place) {}

  // Throws an error at this place; by the author a usage error or a failure.
  [[noreturn]] void complain(std::string_view what) const;

  // The place in the document: "layers[2].forward"; empty for the whole document.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] const std::string& source() const { return nodes_->source; }

  [[nodiscard]] JsonKind kind() const { return node().kind; }
  [[nodiscard]] bool is_null() const { return kind() == JsonKind::kNull; }
  [[nodiscard]] bool is_text() const { return kind() == JsonKind::kText; }
  [[nodiscard]] bool is_list() const { return kind() == JsonKind::kList; }
  [[nodiscard]] bool is_object() const { return kind() == JsonKind::kObject; }
  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] bool is_number() const { return is_whole() || kind() == JsonKind::kReal; }

  // The key as a member of an object; empty for other values.
  [[nodiscard]] std::string_view key() const { return view(node().key); }

  // The members of an object or the elements of a list, in order; none for other values.
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] bool empty() const { return is_scalar() || place_ + 1 == node().next; }
  [[nodiscard]] std::size_t size() const;

  // The elements of a list of at most 100,000; complains about other values.
  [[nodiscard]] std::vector<JsonValue> elements() const;

  // The value itself, or the elements of a list, which must have one or more.
  [[nodiscard]] std::vector<JsonValue> values() const;

  // The first member with this key; nothing where an object lacks the key, or for other values.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  // The same, where members are asked for in about the order of the text: `hint`, at first 0,
  // remembers where the search goes on.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key, std::size_t& hint) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  // The member with this key, which has to be there.
  [[nodiscard]] JsonValue at(std::string_view key) const;

  // Complains unless the value is an object.
  void expect_object() const;
  // Complains unless the value is an object with none but `known` keys; names the nearest of them.
  void allow(std::span<const std::string_view> known) const;
  void allow(std::initializer_list<std::string_view> known) const {
    allow(std::span(known.begin(), known.size()));
  }

  [[nodiscard]] bool boolean() const;
  // Any text; the view lasts as long as the nodes.
  [[nodiscard]] std::string_view text() const;
  // A text of 1 to `most` bytes without control characters, for names and messages.
  [[nodiscard]] std::string line(std::size_t most = 200) const;
  // The index of a text among `names`.
  [[nodiscard]] std::size_t one_of(std::span<const std::string_view> names) const;
  [[nodiscard]] double number(JsonRange range = {}) const;
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;

  // The node of a scalar, for writers.
  [[nodiscard]] const JsonNode& node() const { return nodes_->list[place_]; }

 private:
  [[nodiscard]] bool is_scalar() const { return !is_list() && !is_object(); }
  [[nodiscard]] std::optional<JsonValue> find_between(std::string_view key, std::size_t from,
                                                      std::size_t to) const;
  [[nodiscard]] std::string_view view(JsonNode::Text text) const {
    return std::string_view(nodes_->texts).substr(text.begin, text.size);
  }

  const JsonNodes* nodes_;
  std::size_t place_;
};

class JsonValue::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = JsonValue;
  using difference_type = std::ptrdiff_t;
  using pointer = const JsonValue*;
  using reference = JsonValue;

  explicit Iterator(JsonValue at) : at_(at) {}
  JsonValue operator*() const { return at_; }
  Iterator& operator++() {
    at_.place_ = at_.node().next;
    return *this;
  }
  bool operator==(const Iterator& other) const { return at_.place_ == other.at_.place_; }

 private:
  JsonValue at_;
};

inline JsonValue::Iterator JsonValue::begin() const {
  return Iterator({*nodes_, is_scalar() ? node().next : place_ + 1});
}
inline JsonValue::Iterator JsonValue::end() const { return Iterator({*nodes_, node().next}); }

// A value or a text as JSON for an error: printable, and cut to 80 bytes.
[[nodiscard]] std::string shown(const JsonValue& value);
[[nodiscard]] std::string shown(std::string_view text);

// The same of a text, between single quotes.
[[nodiscard]] std::string shown_name(std::string_view text);

}  // namespace tandem
