// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::cli {

// One way between two ends, of one size, as copy_bench measured it.
struct CopySpeed {
  std::string from{};  // "cuda:0", "pinned", ...
  std::string to{};
  double gigabytes_per_second = 0;  // 10^9 bytes, of the median copy
  double median_us = 0;             // from the call of a copy until it is waited for
  std::int64_t bytes = 0;

  bool operator==(const CopySpeed&) const = default;
};

// The entries of copy_bench's document that were measured. Throws a failure where it is none.
[[nodiscard]] std::vector<CopySpeed> parse_copies(const std::string& document);

}  // namespace tandem::cli
