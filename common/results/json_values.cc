// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_values.h"

#include <algorithm>
#include <cmath>

namespace tandem::results {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shown(const Json& json) {
  constexpr std::size_t kMost = 80;
  // JSON need not escape all control characters, so dump() escapes them and invalid UTF-8 as
  // \\u....
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::replace(text.begin(), text.end(), '\x7f', '?');
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

double finite(double value, std::string_view field) {
  if (!std::isfinite(value)) {
    fail(ErrorKind::kLogic, "writing results: {} is {}; a result must be finite", field, value);
  }
  return value;
}

}  // namespace tandem::results
