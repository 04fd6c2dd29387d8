// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/base/units.h"

namespace tandem::bench {

// Sizes as a person lists them, separated by commas: a size (16MiB), a range that doubles
// (1KiB:64MiB), or a range with its factor (1KiB:1GiB:4). Sizes keep the given order, each size
// once. A range ends at the last size that does not exceed the range's end. Throws a usage error
// that names `flag`.
[[nodiscard]] std::vector<Bytes> parse_sizes(const std::string& text, const std::string& flag);

}  // namespace tandem::bench
