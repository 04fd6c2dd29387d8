// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"

// Private to results: small guards around the JSON library, which writes NaN as null in silence.
namespace tandem::results {

using Json = nlohmann::ordered_json;

// One line, invalid UTF-8 replaced: stderr of a crashed child may hold anything.
[[nodiscard]] std::string dump(const Json& json);

// The same, cut to what an error has room for.
[[nodiscard]] std::string shown(const Json& json);

// What `read` returns; its errors name `source`.
template <class Read>
[[nodiscard]] auto reading(std::string_view source, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string_view reason = error.what();
    if (reason.starts_with("reading ")) throw;  // names its source already
    fail(ErrorKind::kFailure, "reading {}: {}", source, reason);
  }
}

// The number, or a logic error that names `field`.
[[nodiscard]] double finite(double value, std::string_view field);

}  // namespace tandem::results
