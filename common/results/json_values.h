// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"

// Private to results: small guards around the JSON library, which writes NaN as null in silence.
namespace tandem::results {

using Json = nlohmann::ordered_json;

// The JSON text in one line, with invalid UTF-8 replaced, since stderr of a crashed child may hold
// any bytes.
[[nodiscard]] std::string dump(const Json& json);

// The JSON text, cut to the room of an error message.
[[nodiscard]] std::string shown(const Json& json);

// The result of `read`, whose errors name `source`.
template <class Read>
[[nodiscard]] auto reading(std::string_view source, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string_view reason = error.what();
    if (reason.starts_with("reading ")) throw;  // the error names its source already
    fail(ErrorKind::kFailure, "reading {}: {}", source, reason);
  }
}

// Returns the number, or throws a logic error that names `field` where the number is not finite.
[[nodiscard]] double finite(double value, std::string_view field);

}  // namespace tandem::results
