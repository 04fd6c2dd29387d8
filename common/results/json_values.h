// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

// Private to results: small guards around the JSON library, which writes NaN as null in silence
// and reads 1.5 as the integer 1.
namespace tandem::results {

using Json = nlohmann::ordered_json;

// One line, invalid UTF-8 replaced: stderr of a crashed child may hold anything.
[[nodiscard]] std::string dump(const Json& json);
[[nodiscard]] std::string dump_pretty(const Json& json);

// Parses text; the error names `source`.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);

// The number, or a logic error that names `field`.
[[nodiscard]] double finite(double value, std::string_view field);

// The field's value, or `fallback` where it is absent; an error that names it where its type is
// another one.
template <class T>
[[nodiscard]] T value_or(const Json& object, const char* field, T fallback) {
  const auto found = object.find(field);
  if (found == object.end()) return fallback;
  try {
    return found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFailure, "field '{}' is {}, which is no value for it", field, dump(*found));
  }
}

// The same for a field that is left out where there is nothing to tell.
template <class T>
[[nodiscard]] std::optional<T> value_if_any(const Json& object, const char* field) {
  if (!object.contains(field)) return std::nullopt;
  return value_or(object, field, T{});
}

// Where `field` is required.
[[nodiscard]] const Json& required(const Json& object, const char* field);

}  // namespace tandem::results
