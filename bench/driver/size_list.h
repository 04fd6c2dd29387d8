// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/units.h"

namespace tandem::bench {

// "a,b,c" -> a, b, c. Parts may be empty; an empty text is one empty part.
[[nodiscard]] inline std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// Sizes as a person lists them, separated by commas: a size (16MiB), a range that doubles
// (1KiB:64MiB), or a range with its factor (1KiB:1GiB:4). Sizes keep the given order, each size
// once. A range ends at the last size that does not exceed the range's end. Throws a usage error
// that names `flag`.
[[nodiscard]] std::vector<Bytes> parse_sizes(const std::string& text, const std::string& flag);

}  // namespace tandem::bench
