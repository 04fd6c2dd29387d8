// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/dtype.h"

namespace tandem {

// Stores that bypass the caches, for results too large for the caches: a cache line that is written
// whole is not read first. A thread, even the writing one, may read the results only after this
// object is destroyed. Machines without such stores use plain ones. One thread at a time.
class StreamingStores {
 public:
  StreamingStores() = default;
  ~StreamingStores();
  StreamingStores(const StreamingStores&) = delete;
  StreamingStores& operator=(const StreamingStores&) = delete;

  // Copies to[i] = from[i]; `to` and `from` do not overlap.
  void copy(float* to, const float* from, std::int64_t count);
};

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
