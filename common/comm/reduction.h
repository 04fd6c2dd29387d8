// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/dtype.h"

namespace tandem {

struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// The share of rank `rank`: 1/size of `elements`, cut at cache lines (of float) so that no two
// ranks write the same line.
[[nodiscard]] Share share_of(int rank, int size, std::int64_t elements);

struct Reduction {
  DType type = DType::kFloat32;
  float factor = 1;  // multiplies the sum
};

// Reduces the elements first .. first + count: sums `sources` in order, multiplies the sums by the
// factor, and writes the result to every destination. 16-bit numbers are summed and multiplied in
// float, and rounded once. A destination is one of the sources or lies apart from all of them.
void reduce_elements(const std::vector<const std::byte*>& sources,
                     const std::vector<std::byte*>& destinations, Share elements,
                     Reduction reduction);

}  // namespace tandem
