// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_scan.h"

#include "common/results/json_text.h"

namespace tandem::results {
namespace {

constexpr int kMostDepth = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Recursive descent; what goes wrong is kept, and ends all loops.
class Scanner {
 public:
  Scanner(std::string_view text, int depth, std::vector<JsonNode>& nodes)
      : text_(text), depth_(depth), nodes_(nodes) {}

  JsonScan scan(std::size_t& end) {
    nodes_.clear();
    if (value({}, false)) end = at_;
    return outcome_;
  }

 private:
  bool fail(JsonScan why) {
    outcome_ = why;
    return false;
  }

  // At something that is not allowed here, or at the end.
  bool fail_here() { return fail(at_ >= text_.size() ? JsonScan::kCutOff : JsonScan::kInvalid); }

  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }

  bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool value(std::string_view key, bool key_has_escapes) {
    skip_space();
    if (at_ >= text_.size()) return fail_here();
    const std::size_t place = nodes_.size();
    nodes_.push_back({.key_has_escapes = key_has_escapes, .key = key, .text = {}});
    if (!content(place, text_[at_])) return false;
    nodes_[place].next = static_cast<std::uint32_t>(nodes_.size());
    return true;
  }

  bool content(std::size_t place, char first) {
    switch (first) {
      case '{':
        return container(place, JsonKind::kObject, '}');
      case '[':
        return container(place, JsonKind::kList, ']');
      case '"':
        nodes_[place].kind = JsonKind::kText;
        return text(nodes_[place].text, nodes_[place].has_escapes);
      case 't':
        return word(place, "true", JsonKind::kBoolean);
      case 'f':
        return word(place, "false", JsonKind::kBoolean);
      case 'n':
        return word(place, "null", JsonKind::kNull);
      default:
        return number(place);
    }
  }

  bool container(std::size_t place, JsonKind kind, char close) {
    const std::size_t begin = at_++;
    if (++depth_ > kMostDepth) return fail(JsonScan::kTooDeep);
    skip_space();
    if (!take(close)) {
      do {
        if (!(kind == JsonKind::kObject ? member() : value({}, false))) return false;
        skip_space();
      } while (take(','));
      if (!take(close)) return fail_here();
    }
    --depth_;
    nodes_[place].kind = kind;
    nodes_[place].text = text_.substr(begin, at_ - begin);
    return true;
  }

  bool member() {
    skip_space();
    std::string_view key;
    bool has_escapes = false;
    if (!is_at('"')) return fail_here();
    if (!text(key, has_escapes)) return false;
    skip_space();
    if (!take(':')) return fail_here();
    return value(key, has_escapes);
  }

  bool text(std::string_view& found, bool& has_escapes) {
    const JsonTextEnd end = end_of_text(text_, at_ + 1);
    if (!end.is_valid) return fail(end.is_cut_off ? JsonScan::kCutOff : JsonScan::kInvalid);
    found = text_.substr(at_ + 1, end.quote - at_ - 1);
    has_escapes = end.has_escapes;
    at_ = end.quote + 1;
    return true;
  }

  bool word(std::size_t place, std::string_view expected, JsonKind kind) {
    const std::string_view found = text_.substr(at_, expected.size());
    if (found != expected) {
      return fail(expected.starts_with(found) ? JsonScan::kCutOff : JsonScan::kInvalid);
    }
    nodes_[place].kind = kind;
    nodes_[place].text = found;
    at_ += expected.size();
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin || fail_here();
  }

  bool number(std::size_t place) {
    const std::size_t begin = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      if (!digits()) return false;
    }
    nodes_[place].kind = JsonKind::kNumber;
    nodes_[place].text = text_.substr(begin, at_ - begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_;
  std::vector<JsonNode>& nodes_;
  JsonScan outcome_ = JsonScan::kWhole;
};

}  // namespace

JsonScan scan_json(std::string_view text, int depth, std::vector<JsonNode>& nodes,
                   std::size_t& end) {
  return Scanner(text, depth, nodes).scan(end);
}

std::size_t behind_space(std::string_view text, std::size_t place) {
  while (place < text.size() && is_space(text[place])) ++place;
  return place;
}

}  // namespace tandem::results
