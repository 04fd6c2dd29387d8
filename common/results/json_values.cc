// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_values.h"

#include <algorithm>
#include <cmath>

#include "common/results/json_depth.h"

namespace tandem::results {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string shown(const Json& json) {
  constexpr std::size_t kMost = 80;
  // Control characters, which JSON does not escape all, and what is no UTF-8 come as \\u....
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::replace(text.begin(), text.end(), '\x7f', '?');
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

std::string shown_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) json = std::string(text);  // a number beyond all that there are
  return shown(json);
}

Json parse_json(std::string_view text, std::string_view source) {
  if (nests_too_deep(text)) {
    fail(ErrorKind::kFailure, "reading {}: it nests too deep for a result; is it one?", source);
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    fail(ErrorKind::kFailure, "reading {}: it is not valid JSON; is the file cut off?", source);
  }
  return json;
}

double finite(double value, std::string_view field) {
  if (!std::isfinite(value)) {
    fail(ErrorKind::kLogic, "writing results: {} is {}; a result must be finite", field, value);
  }
  return value;
}

}  // namespace tandem::results
