// SPDX-License-Identifier: Apache-2.0
#include "common/base/json_text.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "common/base/error.h"
#include "common/base/json_iterator.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostKeys = 1000;  // keys of one object

// The unread rest of a text.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  [[nodiscard]] bool is_over() const { return at_ == text_.size(); }
  [[nodiscard]] const char& front() const { return text_[at_]; }
  void advance() { ++at_; }
  [[nodiscard]] std::string_view read() const { return text_.substr(0, at_); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// A key for an error message, in one line and cut to a fixed length.
std::string shown(const std::string& key) {
  constexpr std::size_t kLongest = 40;
  const std::string text = Json(key).dump(-1, ' ', true);
  if (text.size() <= kLongest) return text;
  return text.substr(0, kLongest) + "...";
}

// Checks the parser's events in order.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  Checker(std::string_view text, const std::string& source)
      : text_(text), source_(source), rest_(text) {}

  void check() {
    static_cast<void>(Json::sax_parse(JsonIterator(&rest_), JsonIterator<Rest>(), this));
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }

  bool key(string_t& key) override {
    Keys& keys = keys_.back();
    if (!keys.insert(key).second) {
      fail(ErrorKind::kUsage,
           "{}: key {} stands twice in one object, again in line {}: give it once", source_,
           shown(key), line_of(rest_.read()));
    }
    if (keys.size() <= kMostKeys) return true;
    fail(ErrorKind::kUsage,
         "{}: an object with more than {} keys, in line {}: no such file needs it", source_,
         kMostKeys, line_of(rest_.read()));
  }

  bool parse_error(std::size_t count, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string_view before = text_.substr(0, std::max<std::size_t>(count, 1) - 1);
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    fail(ErrorKind::kUsage, "{}: it is not valid JSON, from line {}, column {}{}; mend it", source_,
         line_of(before), column,
         error.id == kJsonNumberOutOfRange ? ": a number is out of range" : "");
  }

 private:
  using Keys = std::unordered_set<std::string>;

  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= kDeepestJson) return true;
    fail(ErrorKind::kUsage, "{}: it nests deeper than {}, in line {}: no such file needs it",
         source_, kDeepestJson, line_of(rest_.read()));
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  [[nodiscard]] static std::ptrdiff_t line_of(std::string_view before) {
    return std::count(before.begin(), before.end(), '\n') + 1;
  }

  std::string_view text_;
  const std::string& source_;
  Rest rest_;
  std::vector<Keys> keys_;  // keys of each open bracket; empty for a list
};

}  // namespace

void check_json(std::string_view text, const std::string& source) { Checker(text, source).check(); }

}  // namespace tandem
