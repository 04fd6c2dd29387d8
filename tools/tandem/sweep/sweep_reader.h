// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/value.h"

namespace tandem::cli {

// An object of a sweep file, in which one value may stand for a list of one. Every complaint names
// the file and the place in it.
class SweepReader : public JsonValue {
 public:
  explicit SweepReader(JsonValue object);

  // The one value of a key, or the values of a list that is not empty.
  [[nodiscard]] std::vector<JsonValue> values(std::string_view key) const;

  // A text of 1 to 1000 bytes, in one line.
  [[nodiscard]] std::string text(std::string_view key) const;
  // One such text, or a list of such texts.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  // A whole number from 1, or a list of such numbers.
  [[nodiscard]] std::vector<std::int64_t> counts(std::string_view key) const;
  // A text that is one of `known`, or a list of such texts.
  [[nodiscard]] std::vector<std::string> names(std::string_view key,
                                               std::span<const std::string_view> known) const;
  // A whole number from 1 to `most`.
  [[nodiscard]] int count(std::string_view key, int fallback, int most) const;

  // The objects of a list that is not empty.
  [[nodiscard]] std::vector<JsonValue> objects(std::string_view key) const;
};

// A value of an option as the command line takes it: true and false become on and off.
[[nodiscard]] std::string option_text(const JsonValue& value);

}  // namespace tandem::cli
