// SPDX-License-Identifier: Apache-2.0
#include "common/base/json_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "common/base/error.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostKeys = 1000;  // of one object

// Goes through a text, and leaves with its owner where it is: how far the parser has read.
class Pace {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit Pace(const char*& at) : at_(&at) {}
  reference operator*() const { return **at_; }
  Pace& operator++() {
    ++*at_;
    return *this;
  }
  bool operator==(const Pace& other) const { return *at_ == *other.at_; }

 private:
  const char** at_;
};

// A key as an error has room for it, in one line.
std::string shown(const std::string& key) {
  constexpr std::size_t kLongest = 40;
  const std::string text = Json(key).dump(-1, ' ', true);
  if (text.size() <= kLongest) return text;
  return text.substr(0, kLongest) + "...";
}

// What the parser meets, in order.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  Checker(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void check() {
    const char* end = text_.data() + text_.size();
    static_cast<void>(Json::sax_parse(Pace(at_), Pace(end), this));
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
           shown(key), line_of(read()));
    }
    if (keys.size() <= kMostKeys) return true;
    fail(ErrorKind::kUsage,
         "{}: an object with more than {} keys, in line {}: no such file needs it", source_,
         kMostKeys, line_of(read()));
  }

  bool parse_error(std::size_t count, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kOutOfRange = 406;  // the library's
    const std::string_view before = text_.substr(0, std::max<std::size_t>(count, 1) - 1);
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    fail(ErrorKind::kUsage, "{}: it is not valid JSON, from line {}, column {}{}; mend it", source_,
         line_of(before), column, error.id == kOutOfRange ? ": a number is out of range" : "");
  }

 private:
  using Keys = std::unordered_set<std::string>;

  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= kDeepest) return true;
    fail(ErrorKind::kUsage, "{}: it nests deeper than {}, in line {}: no such file needs it",
         source_, kDeepest, line_of(read()));
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  [[nodiscard]] std::string_view read() const {
    return text_.substr(0, static_cast<std::size_t>(at_ - text_.data()));
  }
  [[nodiscard]] static std::ptrdiff_t line_of(std::string_view before) {
    return std::count(before.begin(), before.end(), '\n') + 1;
  }

  std::string_view text_;
  const std::string& source_;
  const char* at_ = text_.data();
  std::vector<Keys> keys_;  // of each open bracket; of a list none
};

}  // namespace

void check_json(std::string_view text, const std::string& source) { Checker(text, source).check(); }

}  // namespace tandem
