// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/results/json_reading.h"

// Private to results.
namespace tandem::results {

// Appends at least a byte and about as many as are asked for; false at the text's end.
using TextParts = std::function<bool(std::string&, std::size_t)>;

// Walks through a JSON text that is never whole in memory: into objects and lists by hand, the
// values within as wholes, one at a time. Throws a failure that names `source` where the text is
// no JSON, or nests too deep. `parts` and `source` have to outlive it.
class JsonStream {
 public:
  JsonStream(const TextParts& parts, std::string_view source);

  // Whether the next value is an object ('{') or a list ('[').
  [[nodiscard]] bool is_at(char bracket);

  // Of the object that comes next: each key; `take` has to take its value.
  void members(const std::function<void(const std::string& key)>& take);

  // Of the list that comes next: `take` has to take each element.
  void elements(const std::function<void()>& take);

  // The next value; it ends with the next call of any of these.
  [[nodiscard]] JsonValue value();

  // Nothing but space is left.
  void expect_end();

 private:
  [[nodiscard]] bool is_more();
  [[nodiscard]] bool take(char c);
  void expect(char c);
  bool refill();

  const TextParts& parts_;
  std::string_view source_;
  std::string text_;  // what was read last
  std::size_t at_ = 0;
  bool is_last_ = false;  // no text comes behind text_
  int depth_ = 0;
  ScannedJson scanned_;
};

}  // namespace tandem::results
