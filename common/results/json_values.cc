// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_values.h"

#include <cmath>

namespace tandem::results {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json parse_json(std::string_view text, std::string_view source) {
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

const Json& required(const Json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end()) fail(ErrorKind::kFailure, "field '{}' is missing", field);
  return *found;
}

}  // namespace tandem::results
