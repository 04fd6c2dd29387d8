// SPDX-License-Identifier: Apache-2.0
#include "common/json/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace tandem {
namespace {

constexpr std::size_t kDeepest = 64;            // lists and objects within each other
constexpr std::size_t kMostKeys = 1000;         // keys of one object of a person's text
constexpr int kNumberOutOfRange = 406;          // the library's error number
constexpr std::string_view kGzip = "\x1f\x8b";  // begins its files

// The unread rest of a text that is whole, or that comes in parts.
class UnreadText {
 public:
  explicit UnreadText(std::string_view whole) : part_(whole) {}
  explicit UnreadText(const TextParts& parts) : parts_(&parts) { refill(); }

  [[nodiscard]] bool is_over() const { return at_ == part_.size(); }
  [[nodiscard]] const char& front() const { return part_[at_]; }
  void advance() {
    if (++at_ == part_.size() && parts_ != nullptr) refill();
  }

  // The text before a position; the whole of it is known only where it does not come in parts.
  [[nodiscard]] std::string_view before(std::size_t position) const {
    return part_.substr(0, position);
  }
  [[nodiscard]] std::string_view read() const { return before(at_); }

 private:
  void refill() {
    constexpr std::size_t kPart = 1 << 20;
    buffer_.clear();
    (void)(*parts_)(buffer_, kPart);
    part_ = buffer_;
    at_ = 0;
  }

  const TextParts* parts_ = nullptr;
  std::string buffer_;
  std::string_view part_;
  std::size_t at_ = 0;
};

// Iterates over a text for the parser; an iterator without a text is the end of every text.
class TextCursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit TextCursor(UnreadText* text = nullptr) : text_(text) {}
  reference operator*() const { return text_->front(); }
  TextCursor& operator++() {
    text_->advance();
    return *this;
  }
  bool operator==(const TextCursor& other) const { return is_end() == other.is_end(); }

 private:
  [[nodiscard]] bool is_end() const { return text_ == nullptr || text_->is_over(); }

  UnreadText* text_;
};

std::ptrdiff_t line_of(std::string_view before) { return std::ranges::count(before, '\n') + 1; }

// Collects the values that the library's parser meets.
class Collector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Collector(JsonNodes& nodes, UnreadText& text, const JsonParts& parts)
      : nodes_(nodes), text_(text), parts_(parts) {}

  void collect() { (void)nlohmann::json::sax_parse(TextCursor(&text_), TextCursor(), this); }

  bool null() override { return scalar({.kind = JsonKind::kNull}); }
  bool boolean(bool value) override {
    return scalar({.kind = JsonKind::kBoolean, .natural = value ? 1U : 0U});
  }
  bool number_integer(number_integer_t value) override {
    return scalar({.kind = JsonKind::kInteger, .integer = value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar({.kind = JsonKind::kNatural, .natural = value});
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return scalar({.kind = JsonKind::kReal, .real = value});
  }
  bool string(string_t& value) override {
    begin_value();
    return complete({.kind = JsonKind::kText, .text = kept(value)});
  }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*size*/) override { return open(JsonKind::kObject); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(JsonKind::kList); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (open_.empty()) {
      entered_.back().key = key;
      return true;
    }
    if (is_by_person()) check_key(key);
    key_ = kept(key);
    return true;
  }

  bool parse_error(std::size_t count, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const bool is_number = error.id == kNumberOutOfRange;
    if (count == 1 && text_.before(2) == kGzip) refuse("it is compressed; gunzip it first");
    if (!is_by_person()) {
      if (is_number) refuse(shown(token) + " is beyond all numbers; is it damaged?");
      refuse("it is not valid JSON; is the file cut off?");
    }
    const std::string_view before = text_.before(std::max<std::size_t>(count, 1) - 1);
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    refuse(fmt::format("it is not valid JSON, from line {}, column {}{}; mend it", line_of(before),
                       column, is_number ? ": a number is out of range" : ""));
  }

 private:
  using Keys = std::unordered_set<std::string>;

  // A list or object whose values are handed over one by one.
  struct Entered {
    std::string path;
    JsonKind kind;
    std::size_t count = 0;  // of the elements handed over
    std::string key{};      // the last key
  };

  [[nodiscard]] bool is_by_person() const { return nodes_.author == JsonAuthor::kPerson; }

  [[noreturn]] void refuse(const std::string& what) const {
    if (is_by_person()) fail(ErrorKind::kUsage, "{}: {}", nodes_.source, what);
    fail(ErrorKind::kFailure, "reading {}: {}", nodes_.source, what);
  }

  void check_key(const std::string& key) {
    Keys& keys = keys_.back();
    if (!keys.insert(key).second) {
      refuse(fmt::format("key {} stands twice in one object, again in line {}: give it once",
                         shown(key), line_of(text_.read())));
    }
    if (keys.size() <= kMostKeys) return;
    refuse(fmt::format("an object with more than {} keys, in line {}: no such file needs it",
                       kMostKeys, line_of(text_.read())));
  }

  // The path of the next value, with `index` between the brackets of an element.
  [[nodiscard]] std::string path(std::string_view index = "") const {
    if (entered_.empty()) return "";
    const Entered& in = entered_.back();
    if (in.kind == JsonKind::kList) return fmt::format("{}[{}]", in.path, index);
    return in.path.empty() ? in.key : in.path + "." + in.key;
  }

  JsonNode::Text kept(std::string_view text) {
    nodes_.texts += text;
    return {.begin = nodes_.texts.size() - text.size(), .size = text.size()};
  }

  void begin_value() {
    if (!open_.empty()) return;
    nodes_.list.clear();
    nodes_.texts.clear();
    key_ = {};
    if (!entered_.empty()) nodes_.path = path(std::to_string(entered_.back().count++));
  }

  void add(JsonNode node) {
    node.key = key_;
    key_ = {};
    nodes_.list.push_back(node);
  }

  bool scalar(const JsonNode& node) {
    begin_value();
    return complete(node);
  }

  bool complete(const JsonNode& node) {
    add(node);
    nodes_.list.back().next = nodes_.list.size();
    hand_over();
    return true;
  }

  bool open(JsonKind kind) {
    if (entered_.size() + open_.size() == kDeepest) refuse_depth();
    if (open_.empty() && parts_.enters && parts_.enters(path(), kind)) {
      entered_.push_back({.path = path(), .kind = kind});
      return true;
    }
    begin_value();
    open_.push_back(nodes_.list.size());
    if (is_by_person()) keys_.emplace_back();
    add({.kind = kind});
    return true;
  }

  [[noreturn]] void refuse_depth() const {
    if (!is_by_person()) refuse("it nests too deep for a result; is it one?");
    refuse(fmt::format("it nests deeper than {}, in line {}: no such file needs it", kDeepest,
                       line_of(text_.read())));
  }

  bool close() {
    if (open_.empty()) {
      entered_.pop_back();
      return true;
    }
    nodes_.list[open_.back()].next = nodes_.list.size();
    open_.pop_back();
    if (is_by_person()) keys_.pop_back();
    hand_over();
    return true;
  }

  void hand_over() {
    if (open_.empty() && parts_.take) parts_.take(path(), {nodes_, 0});
  }

  JsonNodes& nodes_;
  UnreadText& text_;
  const JsonParts& parts_;
  std::vector<Entered> entered_;
  std::vector<std::size_t> open_;  // indices of the lists and objects being collected
  std::vector<Keys> keys_;         // of each of them in a person's text; empty for a list
  JsonNode::Text key_;
};

}  // namespace

JsonDocument::JsonDocument(JsonAuthor author) : nodes_(std::make_unique<JsonNodes>()) {
  nodes_->author = author;
}

JsonDocument::JsonDocument(JsonAuthor author, std::string_view text, std::string source)
    : JsonDocument(author) {
  read(text, std::move(source));
}

void JsonDocument::read(std::string_view text, std::string source) {
  nodes_->source = std::move(source);
  UnreadText whole(text);
  Collector(*nodes_, whole, {}).collect();
}

std::optional<JsonDocument> object_in(std::string_view text, std::string source) {
  try {
    JsonDocument document(JsonAuthor::kProgram, text, std::move(source));
    if (document.root().is_object()) return document;
  } catch (const Error&) {  // the text is no JSON, as this function's callers expect
  }
  return std::nullopt;
}

void read_parts(const TextParts& text, std::string source, const JsonParts& parts) {
  JsonNodes nodes;
  nodes.source = std::move(source);
  UnreadText rest(text);
  Collector(nodes, rest, parts).collect();
}

}  // namespace tandem
