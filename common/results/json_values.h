// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/base/error.h"

// Private to results: small guards around the JSON library, which writes NaN as null in silence
// and reads 1.5 as the integer 1.
namespace tandem::results {

using Json = nlohmann::ordered_json;

// One line, invalid UTF-8 replaced: stderr of a crashed child may hold anything.
[[nodiscard]] std::string dump(const Json& json);
[[nodiscard]] std::string dump_pretty(const Json& json);

// The same, cut to what an error has room for.
[[nodiscard]] std::string shown(const Json& json);

// What `read` returns; its errors name `source`, and `what` it should have been.
template <class Read>
[[nodiscard]] auto reading(std::string_view source, std::string_view what, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string_view reason = error.what();
    if (reason.starts_with("reading ")) throw;  // names its source already
    fail(ErrorKind::kFailure, "reading {}: {}", source, reason);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFailure, "reading {}: a field's type is not that of {}", source, what);
  }
}

// Parses text; the error names `source`.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);

// The number, or a logic error that names `field`.
[[nodiscard]] double finite(double value, std::string_view field);

// A number as a whole one of type T; false where it is none, or too large for it.
template <class T>
[[nodiscard]] bool is_whole(const Json& json) {
  if (json.is_number_unsigned()) {
    return json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  }
  return json.is_number_integer() && json.get<std::int64_t>() >= std::numeric_limits<T>::min() &&
         json.get<std::int64_t>() <= std::numeric_limits<T>::max();
}

// Whether the JSON library, asked for a T, would give one that means the same: of lists, every
// element.
template <class T>
[[nodiscard]] bool is_exact(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    return json.is_boolean();
  } else if constexpr (std::is_integral_v<T>) {
    return is_whole<T>(json);
  } else if constexpr (std::is_same_v<T, std::vector<int>> ||
                       std::is_same_v<T, std::vector<std::int64_t>>) {
    return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& element) {
             return is_whole<typename T::value_type>(element);
           });
  } else {
    return true;
  }
}

[[noreturn]] void fail_value(const char* field, const Json& value);

// The field's value, or `fallback` where it is absent; an error that names it where its type is
// another one.
template <class T>
[[nodiscard]] T value_or(const Json& object, const char* field, T fallback) {
  const auto found = object.find(field);
  if (found == object.end()) return fallback;
  if (!is_exact<T>(*found)) fail_value(field, *found);
  try {
    return found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    fail_value(field, *found);
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

template <class T>
[[nodiscard]] T required_value(const Json& object, const char* field) {
  (void)required(object, field);
  return value_or(object, field, T{});
}

}  // namespace tandem::results
