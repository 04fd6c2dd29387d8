// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json/value.h"
#include "common/json/writer.h"

namespace tandem::cli {

// A text of a sweep file: 1 to 1000 bytes, in one line.
[[nodiscard]] inline std::string text_of(const JsonValue& value) {
  constexpr std::size_t kLongest = 1000;
  return value.line(kLongest);
}

// A value of an option as the command line takes it: true and false become on and off.
[[nodiscard]] inline std::string option_text(const JsonValue& value) {
  if (value.is_text()) return value.text().empty() ? "" : text_of(value);
  if (value.kind() == JsonKind::kBoolean) return value.boolean() ? "on" : "off";
  if (value.is_number()) return json_line(value);
  value.complain(shown(value) + ": an option takes a text, a number, true or false");
}

}  // namespace tandem::cli
