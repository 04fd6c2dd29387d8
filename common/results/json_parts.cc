// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_parts.h"

#include <vector>

#include "common/base/error.h"
#include "common/base/json_iterator.h"

namespace tandem::results {
namespace {

// Collects the values that the library's parser meets.
class Collector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Collector(JsonNodes& nodes, std::string_view source, const JsonParts& parts)
      : nodes_(nodes), source_(source), parts_(parts) {}

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
    } else {
      key_ = kept(key);
    }
    return true;
  }

  bool parse_error(std::size_t /*place*/, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    if (error.id == kJsonNumberOutOfRange) {
      fail(ErrorKind::kFailure, "reading {}: {} is beyond all numbers; is it damaged?", source_,
           shown(Json(token)));
    }
    fail(ErrorKind::kFailure, "reading {}: it is not valid JSON; is the file cut off?", source_);
  }

 private:
  // A list or object whose values are handed over one by one.
  struct Entered {
    std::string path;
    std::string key{};  // the last key
  };

  [[nodiscard]] std::string path() const {
    return entered_.empty() ? "" : entered_.back().path + "/" + entered_.back().key;
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
    if (entered_.size() + open_.size() == kDeepestJson) {
      fail(ErrorKind::kFailure, "reading {}: it nests too deep for a result; is it one?", source_);
    }
    if (open_.empty() && parts_.enters && parts_.enters(path(), kind)) {
      entered_.push_back({.path = path()});
      return true;
    }
    begin_value();
    open_.push_back(nodes_.list.size());
    add({.kind = kind});
    return true;
  }

  bool close() {
    if (open_.empty()) {
      entered_.pop_back();
      return true;
    }
    nodes_.list[open_.back()].next = nodes_.list.size();
    open_.pop_back();
    hand_over();
    return true;
  }

  void hand_over() {
    if (open_.empty() && parts_.take) parts_.take(path(), {nodes_, 0});
  }

  JsonNodes& nodes_;
  std::string_view source_;
  const JsonParts& parts_;
  std::vector<Entered> entered_;
  std::vector<std::size_t> open_;  // indices of the lists and objects being collected
  JsonNode::Text key_;
};

// The unread rest of a text that comes in parts.
class PartedText {
 public:
  explicit PartedText(const TextParts& parts) : parts_(parts) { refill(); }

  [[nodiscard]] bool is_over() const { return at_ == part_.size(); }
  [[nodiscard]] const char& front() const { return part_[at_]; }
  void advance() {
    if (++at_ == part_.size()) refill();
  }

 private:
  void refill() {
    constexpr std::size_t kPart = 1 << 20;
    part_.clear();
    at_ = 0;
    (void)parts_(part_, kPart);
  }

  const TextParts& parts_;
  std::string part_;
  std::size_t at_ = 0;
};

}  // namespace

void ScannedJson::scan(std::string_view text, std::string_view source) {
  const JsonParts whole;
  Collector collector(nodes_, source, whole);
  (void)nlohmann::json::sax_parse(text.begin(), text.end(), &collector);
}

Json parse_json(std::string_view text, std::string_view source) {
  return ScannedJson(text, source).root().tree();
}

void read_parts(const TextParts& text, std::string_view source, const JsonParts& parts) {
  JsonNodes nodes;
  PartedText left(text);
  Collector collector(nodes, source, parts);
  (void)nlohmann::json::sax_parse(JsonIterator(&left), JsonIterator<PartedText>(), &collector);
}

}  // namespace tandem::results
